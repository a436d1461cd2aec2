import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Agent } from 'node:http';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Instance } from '@svc/contract/instance.ts';
import { http } from '@svc/service-kit/builtin.ts';
import { openHouse, type House } from '@svc/testing/house.ts';
import { codeFor, redeem, registered } from '../connectors/toolserver/test/authorize.ts';
import type { OpenToolserver } from '../connectors/toolserver/test/open-toolserver.ts';
import { median } from './load.ts';

/**
 * The MCP server beside the bare SDK and beside an answer written by hand, in turns: how often a second `tools/list` is answered over eight
 * connections, and what the process holds (PSS) afterwards. `node bench/mcp.ts [--rounds 3] [--count 4000]`. Linux only.
 */
const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, count: { type: 'string', default: '4000' } },
});
const [rounds, count] = [Number(values.rounds), Number(values.count)];

type Target = { name: string; url: string; pid: number; token: string | null };

const house = await openHouse({ env: { SVC_LOG_LEVEL: 'warn' } });
const references = await Promise.all(['hand', 'sdk'].map(startReference));
try {
  const targets = [...references.map(({ target }) => target), await startOurs(house)];
  const measured = new Map(targets.map(({ name }): [string, number[]] => [name, []]));
  for (const target of targets) await run(target, 500);
  for (let round = 0; round < rounds; round++)
    for (const target of targets) measured.get(target.name)?.push(await run(target, count));
  const perSecond = (name: string) => median(measured.get(name) ?? []);
  for (const { name, pid } of targets) {
    const ratio = (to: string) => (perSecond(name) / perSecond(to)).toFixed(2);
    print(
      `${name.padEnd(5)} ${perSecond(name).toFixed(0)} calls/s, ${ratio('sdk')} x sdk, ${ratio('hand')} x hand, ${pssMb(pid).toFixed(1)} MB PSS`,
    );
  }
} finally {
  for (const { child } of references) child.kill();
  await house.stop();
}

async function startReference(kind: string) {
  const child = fork(path.join(import.meta.dirname, '../connectors/toolserver/test/fixtures/reference-server.ts'), {
    env: { ...process.env, KIND: kind },
  });
  const [port] = (await once(child, 'message')) as [number];
  return { child, target: { name: kind, url: `http://127.0.0.1:${port}/mcp`, pid: child.pid ?? 0, token: null } };
}

/** An instance under the manager, with a client that was approved. */
async function startOurs({ post, get, urls }: House): Promise<Target> {
  const wanted = { type: 'toolserver', name: 'mcp', config: { port: 0 }, enabled: true };
  const { body: added } = await post<Instance>(`${urls.manager}/instances`, wanted);
  const { instances } = await get<{ instances: Instance[] }>(`${urls.manager}/instances`);
  const running = instances.find(({ type }) => type === 'toolserver');
  if (typeof running?.url !== 'string') throw new Error(`no instance: ${JSON.stringify(added)}`);
  const approve = async () => {
    const { body } = await post<{ result: { code: string } }>(`${urls.manager}/instances/${running.id}/call`, {
      method: 'approve',
    });
    return body.result.code;
  };
  // The cast: signing in needs no more of a server than these.
  const server = { url: running.url, code: approve } as unknown as OpenToolserver;
  const client = await registered(server);
  const { body } = await redeem(server, client, await codeFor(server, client));
  return { name: 'ours', url: `${running.url}/mcp`, pid: running.pid ?? 0, token: body.access_token };
}

/** Calls a second. */
async function run({ url, token }: Target, calls: number): Promise<number> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
  let sent = 0;
  const worker = async () => {
    while (sent < calls) await ask(agent, url, token, ++sent);
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: 8 }, worker));
  agent.destroy();
  return calls / ((performance.now() - began) / 1000);
}

function ask(agent: Agent, url: string, token: string | null, id: number): Promise<void> {
  const text = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/list', params: {} });
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    accept: 'application/json, text/event-stream',
    ...(token !== null && { authorization: `Bearer ${token}` }),
  };
  return new Promise((resolve, reject) => {
    const request = http.request(url, { agent, method: 'POST', headers }, (response) => {
      let said = '';
      response.on('data', (part: Buffer) => (said += part.toString()));
      response.on('end', () =>
        said.includes('"tools"')
          ? resolve()
          : reject(new Error(`${url}: ${response.statusCode} ${JSON.stringify(response.headers)} ${said}`)),
      );
    });
    request.on('error', reject);
    request.end(text);
  });
}

function pssMb(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1]) / 1024;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
