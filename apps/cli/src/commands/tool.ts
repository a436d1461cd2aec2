import path from 'node:path';
import {
  maxToolTestMs,
  type ToolServerDocument,
  type ToolServerImport,
  type ToolServerSaved,
  type ToolServerTest,
  type ToolServerToggled,
} from '@svc/contract/tool-server.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { askCore, type ServiceAnswer } from '../service-client.ts';
import { coreUrl } from '../service-urls.ts';
import { repositoryRoot } from '../repository-root.ts';
import { refusal, showAnswer, type RefusalHelp } from '../show-answer.ts';
import { createStyle, print, visibleLine, type Style } from '../terminal.ts';
import { renderImport, renderTools } from '../tool/render-tools.ts';
import { renderTest, testFault } from '../tool/render-test.ts';
import type { ToolRequest } from '../tool/tool-command.ts';

/** The answer says which secrets are missing, and the secrets command may be slow. */
const timeoutMs = 30_000;

/** Lists or changes the tool servers of the assistant. */
export async function tool(request: ToolRequest): Promise<number> {
  const url = `${coreUrl(loadSettings(repositoryRoot))}/v2/mcp`;
  const style = createStyle(process.stdout);
  const help = helpOf[request.action];
  switch (request.action) {
    case 'list':
      return showAnswer(await askCore<ToolServerDocument>(url), request, help, (body) => renderTools(body, style));
    case 'add':
      return add(url, request, style);
    case 'test': {
      const tested = await connect(url, request.name, request.limitMs);
      if (request.json !== true && tested.ok && !tested.body.connected) throw testFault(tested.body);
      const code = showAnswer(tested, request, help, (test) => (test.connected ? renderTest(test, style) : ''));
      return tested.ok && !tested.body.connected ? exitCodes.failed : code;
    }
    case 'remove': {
      const answer = await askCore<{ name: string }>(serverUrl(url, request.name), { method: 'DELETE' });
      return showAnswer(answer, request, help, ({ name }) => `${name} is removed.`);
    }
    case 'toggle': {
      const answer = await askCore<ToolServerToggled>(`${serverUrl(url, request.name)}/toggle`, { method: 'POST' });
      return showAnswer(answer, request, help, ({ name, enabled }) => `${name} is switched ${enabled ? 'on' : 'off'}.`);
    }
    case 'import': {
      const body = { path: path.resolve(request.file), replace: request.replace };
      return showAnswer(await askCore<ToolServerImport>(`${url}/import`, { body }), request, help, (done) =>
        renderImport(done, style),
      );
    }
  }
}

/** Registers a server, then connects to it once, so that a mistake shows now instead of in a turn. */
async function add(url: string, request: Extract<ToolRequest, { action: 'add' }>, style: Style): Promise<number> {
  const { name, fields, json } = request;
  const saved = await askCore<ToolServerSaved>(url, { body: { name, ...fields }, timeoutMs });
  if (!saved.ok || !request.test || !saved.body.server.enabled)
    return showAnswer(saved, request, helpOf.add, (body) => renderSaved(body, style));
  if (json !== true) print(renderSaved(saved.body, style));
  // Its program may have to be downloaded first.
  const tested = await connect(url, name, maxToolTestMs);
  if (json === true) print(JSON.stringify({ ...saved.body, test: tested.body }, null, 2));
  else if (!tested.ok) throw refusal(tested.body, helpOf.test);
  else if (!tested.body.connected) throw testFault(tested.body, `${name} is added, but it cannot be reached.`);
  else print(renderTest(tested.body, style));
  return tested.ok && tested.body.connected ? exitCodes.ok : exitCodes.failed;
}

const renderSaved = ({ name, replaced, server, warnings }: ToolServerSaved, style: Style): string =>
  [
    `${name} is ${replaced ? 'replaced' : 'added'}${server.enabled ? '; the next turn has it.' : ', switched off.'}`,
    ...warnings.map((warning) => style.yellow(visibleLine(warning))),
  ].join('\n');

const connect = (url: string, name: string, limitMs: number): Promise<ServiceAnswer<ToolServerTest>> =>
  whileWaiting(
    `Connecting to ${name} (its program may be downloaded first) …`,
    askCore<ToolServerTest>(`${serverUrl(url, name)}/test`, { body: { limit_ms: limitMs }, timeoutMs: limitMs + timeoutMs }),
  );

const serverUrl = (url: string, name: string): string => `${url}/${encodeURIComponent(name)}`;

const unchanged = 'nothing was changed.';

const helpOf: Readonly<Record<ToolRequest['action'], RefusalHelp>> = {
  list: { what: 'the tool servers cannot be listed.', run: './svc doctor' },
  add: { what: unchanged, run: './svc tool add --help' },
  test: { what: 'it could not be tested.', run: './svc tool list' },
  import: { what: unchanged, run: './svc tool import --help' },
  remove: { what: unchanged, run: './svc tool list' },
  toggle: { what: unchanged, run: './svc tool list' },
};

/** Shows the elapsed time on a terminal; elsewhere it prints once what it waits for. */
export async function whileWaiting<T>(what: string, work: Promise<T>): Promise<T> {
  const out = process.stderr;
  if (!out.isTTY) {
    out.write(`${what}\n`);
    return work;
  }
  const startedAt = performance.now();
  const show = () => out.write(`\r${what} ${Math.round((performance.now() - startedAt) / 1000)} s `);
  show();
  const timer = setInterval(show, 1000);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    out.write('\r\u001B[K');
  }
}
