// OpenAI's Agents SDK in JavaScript.
import { Agent, run, MCPServerStreamableHttp, setTracingDisabled, OpenAIChatCompletionsModel } from "@openai/agents";
import OpenAI from "openai";
const told = JSON.parse(process.argv[2]); setTracingDisabled(true);
const server = (url) => new MCPServerStreamableHttp({ url, name: "it" });
const every = server(told.every); await every.connect();
const schemas = {}; for (const t of await every.listTools()) schemas[t.name] = t.inputSchema; await every.close();
const own = server(told.url); await own.connect();
const model = new OpenAIChatCompletionsModel(new OpenAI({ baseURL: told.model, apiKey: "none" }), "solver");
const done = await run(new Agent({ name: "agent", model, mcpServers: [own] }), told.prompt, { maxTurns: 300 });
await own.close(); console.log(JSON.stringify({ schemas, said: done.finalOutput }));
