import path from 'node:path';
import type { ErrorBody } from '@svc/contract/error-body.ts';
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
import { askCore, type CoreAnswer } from '../ask-core.ts';
import { CliError } from '../cli-error.ts';
import { coreUrl } from '../core-url.ts';
import { repositoryRoot } from '../repository-root.ts';
import { createStyle, print, visibleLine, type Style } from '../terminal.ts';
import { renderImport, renderTools } from '../tool/render-tools.ts';
import { renderTest, testFault } from '../tool/render-test.ts';
import type { ToolRequest } from '../tool/tool-command.ts';
import { whileWaiting } from '../tool/while-waiting.ts';

/** Whoever adds one is told which secrets are missing, and a secrets command may take its time. */
const timeoutMs = 30_000;

/** Lists the tool servers of the assistant, or changes them. */
export async function tool(request: ToolRequest): Promise<number> {
  const url = `${coreUrl(loadSettings(repositoryRoot))}/v2/mcp`;
  const style = createStyle(process.stdout);
  switch (request.action) {
    case 'list':
      return show(await askCore<ToolServerDocument>(url), request, (body) => renderTools(body, style));
    case 'add':
      return add(url, request, style);
    case 'test': {
      const tested = await connect(url, request.name, request.limitMs);
      if (request.json !== true && tested.ok && !tested.body.connected) throw testFault(tested.body);
      const code = show(tested, request, (test) => (test.connected ? renderTest(test, style) : ''));
      return tested.ok && !tested.body.connected ? exitCodes.failed : code;
    }
    case 'remove': {
      const answer = await askCore<{ name: string }>(serverUrl(url, request.name), { method: 'DELETE' });
      return show(answer, request, ({ name }) => `${name} is removed.`);
    }
    case 'toggle': {
      const answer = await askCore<ToolServerToggled>(`${serverUrl(url, request.name)}/toggle`, { method: 'POST' });
      return show(answer, request, ({ name, enabled }) => `${name} is switched ${enabled ? 'on' : 'off'}.`);
    }
    case 'import': {
      const body = { path: path.resolve(request.file), replace: request.replace };
      return show(await askCore<ToolServerImport>(`${url}/import`, { body }), request, (done) => renderImport(done, style));
    }
  }
}

/** Registers a server, then connects to it once, so that a mistake shows now and not in a turn. */
async function add(url: string, request: Extract<ToolRequest, { action: 'add' }>, style: Style): Promise<number> {
  const { name, fields, json } = request;
  const saved = await askCore<ToolServerSaved>(url, { body: { name, ...fields }, timeoutMs });
  if (!saved.ok || !request.test || !saved.body.server.enabled) return show(saved, request, (body) => renderSaved(body, style));
  if (json !== true) print(renderSaved(saved.body, style));
  // Its program may have to be downloaded first.
  const tested = await connect(url, name, maxToolTestMs);
  if (json === true) print(JSON.stringify({ ...saved.body, test: tested.body }, null, 2));
  else if (!tested.ok) throw refusal(tested.body, 'test');
  else if (!tested.body.connected) throw testFault(tested.body, `${name} is added, but it cannot be reached.`);
  else print(renderTest(tested.body, style));
  return tested.ok && tested.body.connected ? exitCodes.ok : exitCodes.failed;
}

const renderSaved = ({ name, replaced, server, warnings }: ToolServerSaved, style: Style): string =>
  [
    `${name} is ${replaced ? 'replaced' : 'added'}${server.enabled ? '; the next turn has it.' : ', switched off.'}`,
    ...warnings.map((warning) => style.yellow(visibleLine(warning))),
  ].join('\n');

const connect = (url: string, name: string, limitMs: number): Promise<CoreAnswer<ToolServerTest>> =>
  whileWaiting(
    `Connecting to ${name} (its program may be downloaded first) …`,
    askCore<ToolServerTest>(`${serverUrl(url, name)}/test`, { body: { limit_ms: limitMs }, timeoutMs: limitMs + timeoutMs }),
  );

const serverUrl = (url: string, name: string): string => `${url}/${encodeURIComponent(name)}`;

const helpOf: Readonly<Record<ToolRequest['action'], string>> = {
  list: './svc doctor',
  add: './svc tool add --help',
  test: './svc tool list',
  import: './svc tool import --help',
  remove: './svc tool list',
  toggle: './svc tool list',
};

function show<T>(answer: CoreAnswer<T>, { action, json }: ToolRequest, render: (body: T) => string): number {
  if (json === true) print(JSON.stringify(answer.body, null, 2));
  else if (answer.ok) print(render(answer.body));
  else throw refusal(answer.body, action);
  return answer.ok ? exitCodes.ok : exitCodes.failed;
}

const refusal = ({ message }: ErrorBody, action: ToolRequest['action']): CliError =>
  new CliError(action === 'test' ? 'it could not be tried out.' : 'nothing was changed.', { why: message, run: helpOf[action] });
