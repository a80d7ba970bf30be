// LangChain's agent in JavaScript.
import { MultiServerMCPClient } from "@langchain/mcp-adapters";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { ChatOpenAI } from "@langchain/openai";
import { createAgent } from "langchain";
const told = JSON.parse(process.argv[2]);
const client = (url) => new MultiServerMCPClient({ mcpServers: { it: { transport: "http", url } } });
const every = client(told.every); const schemas = {}; for (const t of await every.getTools()) { const f = convertToOpenAITool(t).function; schemas[f.name] = f.parameters; } await every.close();
const own = client(told.url);
const model = new ChatOpenAI({ model: "solver", apiKey: "none", configuration: { baseURL: told.model } });
const agent = createAgent({ model, tools: await own.getTools() });
const done = await agent.invoke({ messages: [{ role: "user", content: told.prompt }] }, { recursionLimit: 600 });
await own.close(); console.log(JSON.stringify({ schemas, said: String(done.messages.at(-1).content) }));
