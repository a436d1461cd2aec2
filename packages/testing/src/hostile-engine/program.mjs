#!/usr/bin/env node
// Stands in for the vendors' programs: it speaks as much of each protocol as a turn needs, and misbehaves as the prompt says
// (`hostile:<what>`).
import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { createInterface } from 'node:readline';

const args = process.argv.slice(2);
const isCodex = args.includes('app-server');
const isClaude = args.includes('stream-json') && args.includes('--input-format');
const uuid = '11111111-2222-4333-8444-555555555555';
const big = 'x'.repeat(64 * 1024);

/** Resolves when the reader has received it. */
const write = (text) => new Promise((resolve) => process.stdout.write(text, resolve));
const line = (value) => write(`${JSON.stringify(value)}\n`);
const forever = () => new Promise(() => setInterval(() => undefined, 1000));

async function misbehave(prompt, say) {
  const what = /hostile:(\w+)/.exec(prompt)?.[1];
  if (what === undefined) return say.reply('hello');
  // The driver's interrupt is ignored, too.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => undefined);
  if (what === 'line') {
    await write(say.openLine);
    for (let n = 0; n < 4320; n++) await write(big);
  }
  if (what === 'lines') for (;;) await write('{}\n'.repeat(10_000));
  if (what === 'deltas') for (;;) await say.delta(big);
  if (what === 'tiny') for (;;) await say.delta('x');
  if (what === 'thinking') for (;;) await say.thinking(big);
  if (what === 'tools') for (let n = 0; ; n++) await say.tool(`call-${n}`);
  if (what === 'stderr') for (;;) await new Promise((resolve) => process.stderr.write(big, resolve));
  await say.delta('working');
  if (what === 'grandchild') {
    const script = "for (const s of ['SIGTERM', 'SIGHUP']) process.on(s, () => {}); setInterval(() => {}, 1000)";
    const options = { detached: true, stdio: ['ignore', 'inherit', 'inherit'] };
    spawn(process.execPath, ['-e', script, 'hostile-grandchild'], options).unref();
  }
  if (what === 'closed') closeSync(1);
  await forever();
}

function speakGemini() {
  let prompt = '';
  process.stdin.setEncoding('utf8').on('data', (text) => (prompt += text));
  process.stdin.on('end', async () => {
    await line({ type: 'init', session_id: uuid, model: 'hostile' });
    const delta = (content) => line({ type: 'message', role: 'assistant', content });
    await misbehave(prompt, {
      openLine: '{"type":"message","role":"assistant","content":"',
      delta,
      thinking: delta,
      async tool(id) {
        await line({ type: 'tool_use', tool_name: 'read', tool_id: id, parameters: { big: big.slice(0, 1000) } });
        await line({ type: 'tool_result', tool_id: id, status: 'success', output: big });
      },
      async reply(text) {
        await delta(text);
        const stats = { total_tokens: 2, input_tokens: 1, output_tokens: 1, cached: 0, input: 1 };
        await line({ type: 'result', status: 'success', stats });
        process.exit(0);
      },
    });
  });
}

function speakCodex() {
  const threads = { next: 0 };
  /** Threads in which the driver checks which tools a model gets: they list nothing. */
  const checks = new Map();
  /** Each of the thread's tool servers is connected. */
  const tellServers = async (threadId, config) => {
    for (const name of Object.keys(config?.mcp_servers ?? {})) {
      const params = { threadId, name, status: 'ready', error: null };
      await line({ method: 'mcpServer/startupStatus/updated', params });
    }
  };
  createInterface({ input: process.stdin }).on('line', async (text) => {
    const { id, method, params } = JSON.parse(text);
    if (id === undefined) return;
    const threadId = params?.threadId ?? '';
    const tell = (name, more) => line({ method: name, params: { threadId, ...more } });
    if (method === 'thread/start') {
      const begun = `${uuid.slice(0, -4)}${String(threads.next++).padStart(4, '0')}`;
      if (params.ephemeral === true) checks.set(begun, params.config.model_providers.svc.base_url);
      await line({ id, result: { thread: { id: begun }, model: 'hostile' } });
      return tellServers(begun, params.config);
    }
    if (method === 'thread/resume') {
      await line({ id, result: { thread: { id: threadId }, model: 'hostile' } });
      return tellServers(threadId, params.config);
    }
    if (method === 'thread/loaded/list') return line({ id, result: { data: [] } });
    if (method === 'account/read') return line({ id, result: { account: { type: 'x' }, requiresOpenaiAuth: false } });
    if (method === 'turn/interrupt') return; // goes unheard
    if (method === 'thread/unsubscribe') return line({ id, result: { status: 'unsubscribed' } }); // and does not close it
    if (method !== 'turn/start') return line({ id, result: {} });
    await line({ id, result: { turn: { id: 'turn' } } });
    const checked = checks.get(threadId);
    if (checked !== undefined) return fetch(`${checked}/responses`, { method: 'POST', body: '{"tools":[]}' });
    const delta = (said) => tell('item/agentMessage/delta', { delta: said });
    await misbehave(params.input.map((part) => part.text ?? '').join(' '), {
      openLine: `{"method":"item/agentMessage/delta","params":{"threadId":"${threadId}","delta":"`,
      delta,
      thinking: (said) => tell('item/reasoning/textDelta', { delta: said }),
      async tool(call) {
        const item = { type: 'commandExecution', id: call, command: 'x', cwd: '/', status: 'completed', exitCode: 0 };
        await tell('item/started', { item });
        await tell('item/completed', { item: { ...item, aggregatedOutput: big } });
      },
      async reply(said) {
        await delta(said);
        await tell('item/completed', { item: { type: 'agentMessage', id: 'm', text: said } });
        await tell('turn/completed', { turn: { id: 'turn', status: 'completed', error: null } });
      },
    });
  });
}

function speakClaude() {
  const session_id = uuid;
  const from = { session_id, parent_tool_use_id: null, uuid };
  createInterface({ input: process.stdin }).on('line', async (text) => {
    const message = JSON.parse(text);
    if (message.type === 'control_request' && message.request.subtype !== 'interrupt') {
      const response = { subtype: 'success', request_id: message.request_id, response: { commands: [], models: [] } };
      return line({ type: 'control_response', response });
    }
    if (message.type !== 'user') return;
    await line({
      type: 'system',
      subtype: 'init',
      session_id,
      model: 'hostile',
      apiKeySource: 'none',
      mcp_servers: [],
      tools: [],
      uuid,
    });
    const stream = (delta) => line({ type: 'stream_event', ...from, event: { type: 'content_block_delta', index: 0, delta } });
    await misbehave(JSON.stringify(message.message.content), {
      openLine: `{"type":"stream_event","session_id":"${uuid}","parent_tool_use_id":null,"event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"`,
      delta: (said) => stream({ type: 'text_delta', text: said }),
      thinking: (said) => stream({ type: 'thinking_delta', thinking: said }),
      async tool(id) {
        const call = { type: 'tool_use', id, name: 'Read', input: {} };
        await line({ type: 'assistant', ...from, message: { content: [call] } });
        const result = { type: 'tool_result', tool_use_id: id, content: big };
        await line({ type: 'user', ...from, message: { content: [result] } });
      },
      async reply(said) {
        await stream({ type: 'text_delta', text: said });
        await line({ type: 'assistant', ...from, message: { content: [{ type: 'text', text: said }] } });
        const usage = { input_tokens: 1, output_tokens: 1, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
        await line({ type: 'result', subtype: 'success', is_error: false, result: said, session_id, usage, uuid });
      },
    });
  });
}

if (isCodex) speakCodex();
else if (isClaude) speakClaude();
else if (args.includes('stream-json')) speakGemini();
else if (args.includes('debug')) await write('{"models":[]}\n');
else await write('1.0.0\n');
