// A model server for tests: OpenAI's chat completions on a loopback port, streamed. What it
// answers is a function of the request; every call is kept and counted.

import { createServer } from "node:http";

function text(content) {
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => part.text ?? "").join("\n");
}

/** The text of the last message, and who said it. */
export function last(request) {
  const message = request.messages.at(-1);
  return { role: message.role, text: text(message.content) };
}

/**
 * `answer(request, signal)` gives `{text}`, `{tool: {name, args}}` or `{status}`; it may be
 * async, and `signal` aborts when the client goes away.
 */
export async function mockModel(answer) {
  const calls = [];
  const server = createServer(async (incoming, outgoing) => {
    if (!incoming.url.endsWith("/chat/completions")) {
      outgoing.writeHead(incoming.url.endsWith("/models") ? 200 : 404, { "content-type": "application/json" });
      return outgoing.end('{"object":"list","data":[]}');
    }
    let body = "";
    for await (const piece of incoming) body += piece;
    const request = JSON.parse(body);
    // Hosts ask for titles of their own accord; those are no turns.
    const aux = !request.tools?.length;
    const call = { request, aux, at: Date.now(), ended: null };
    calls.push(call);
    const gone = new AbortController();
    outgoing.on("close", () => gone.abort());
    const reply = aux ? { text: "A title" } : await answer(request, gone.signal);
    call.ended = Date.now();
    if (gone.signal.aborted) return;
    if (reply.status) {
      outgoing.writeHead(reply.status, { "content-type": "application/json" });
      return outgoing.end(JSON.stringify({ error: { message: "no" } }));
    }
    const delta = reply.tool
      ? { role: "assistant", tool_calls: [{ index: 0, id: `call_${calls.length}`, type: "function", function: { name: reply.tool.name, arguments: JSON.stringify(reply.tool.args) } }] }
      : { role: "assistant", content: reply.text };
    const chunk = (choice, more = {}) =>
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: request.model, choices: choice ? [{ index: 0, ...choice }] : [], ...more })}\n\n`;
    outgoing.writeHead(200, { "content-type": "text/event-stream" });
    outgoing.write(chunk({ delta, finish_reason: null }));
    outgoing.write(chunk({ delta: {}, finish_reason: reply.tool ? "tool_calls" : "stop" }));
    outgoing.write(chunk(null, { usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }));
    outgoing.end("data: [DONE]\n\n");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    calls,
    /** Calls that are turns of an agent. */
    get turns() {
      return calls.filter(({ aux }) => !aux);
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The command that a prompt of LoopX ends its turn with. */
export function settleCommand(prompt) {
  const line = prompt.split("\n").find((l) => l.trim().startsWith("loopx turn settle"));
  return line?.trim().replace("WHAT SHOWS IT", "the tests pass");
}

/**
 * An agent that does what its prompts say: it plans two todos when there is nothing to work
 * on, ends every turn with the command that it is given, and says `words` after each.
 */
export function diligent(shell, { todos = ["Write the parser", "Write the guide"], words = "done" } = {}) {
  return (request) => {
    const { role, text: said } = last(request);
    if (role === "tool" || !said.includes("LOOPX_TURN=")) return { text: words };
    const settle = settleCommand(said);
    const goal = /--goal-id (\S+)/.exec(settle)[1];
    const planning = !/^Todo /m.test(said);
    const command = planning
      ? [...todos.map((todo) => `loopx todo add --goal-id ${goal} --role agent --text "${todo}"`), settle].join(" && ")
      : `${settle} --no-follow-up`;
    return { tool: shell(command) };
  };
}
