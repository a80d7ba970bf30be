// The AI SDK.
import { createMCPClient } from "@ai-sdk/mcp";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs, asSchema } from "ai";
const told = JSON.parse(process.argv[2]);
const every = await createMCPClient({ transport: { type: "http", url: told.every } });
const tools = await every.tools(); const schemas = {};
for (const [n, t] of Object.entries(tools)) schemas[n] = await asSchema(t.inputSchema).jsonSchema;
await every.close();
const own = await createMCPClient({ transport: { type: "http", url: told.url } });
const model = createOpenAICompatible({ name: "local", baseURL: told.model, apiKey: "none" })("solver");
const done = await generateText({ model, tools: await own.tools(), prompt: told.prompt, stopWhen: stepCountIs(300) });
await own.close();
console.log(JSON.stringify({ schemas, said: done.text }));
