// A small MCP server for tests: `node server.js stdio`, or `node server.js http PORT READY` with streamable HTTP at /mcp
// and SSE at /sse, which makes the file READY once it listens. Its tool `add` adds two numbers. Headers that it was asked
// with are in /tmp/mcp-headers.
"use strict";

const fs = require("fs");
const http = require("http");
const readline = require("readline");

const ADD = {
  name: "add",
  description: "Adds two numbers.",
  inputSchema: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
  },
};

function resultOf(method, params) {
  if (method === "initialize") {
    const { protocolVersion } = params;
    return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "sums", version: "1" } };
  }
  if (method === "tools/list") return { tools: [ADD] };
  if (method === "tools/call") {
    return { content: [{ type: "text", text: `the sum is ${params.arguments.a + params.arguments.b}` }] };
  }
  return method === "ping" ? {} : undefined;
}

// null for what wants no answer.
function answer(text) {
  const { id, method, params } = JSON.parse(text);
  if (id === undefined) return null;
  const result = resultOf(method, params);
  const said = result === undefined ? { error: { code: -32601, message: `no method ${method}` } } : { result };
  return JSON.stringify({ jsonrpc: "2.0", id, ...said });
}

function serveStdio() {
  readline.createInterface({ input: process.stdin }).on("line", (line) => {
    const said = answer(line);
    if (said) process.stdout.write(said + "\n");
  });
}

function serveHttp(port, ready) {
  const streams = [];
  const server = http.createServer((request, response) => {
    const url = new URL(request.url, "http://localhost");
    fs.appendFileSync("/tmp/mcp-headers", JSON.stringify(request.headers) + "\n");
    if (request.method === "GET" && url.pathname === "/sse") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`event: endpoint\ndata: /message?to=${streams.push(response) - 1}\n\n`);
      return;
    }
    if (request.method !== "POST") {
      response.writeHead(405).end();
      return;
    }
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      const said = answer(body);
      if (url.pathname === "/mcp" && said) {
        response.writeHead(200, { "content-type": "application/json" }).end(said);
        return;
      }
      if (said) streams[Number(url.searchParams.get("to"))].write(`event: message\ndata: ${said}\n\n`);
      response.writeHead(202).end();
    });
  });
  server.listen(port, "127.0.0.1", () => fs.writeFileSync(ready, ""));
}

if (process.argv[2] === "stdio") serveStdio();
else serveHttp(Number(process.argv[3]), process.argv[4]);
