import path from 'node:path';
import type { ToolServerDocument, ToolServerImport, ToolServerSaved, ToolServerToggled } from '@svc/contract/tool-server.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { askCore, type CoreAnswer } from '../ask-core.ts';
import { CliError } from '../cli-error.ts';
import { coreUrl } from '../core-url.ts';
import { repositoryRoot } from '../repository-root.ts';
import { createStyle, print, visibleLine } from '../terminal.ts';
import { renderImport, renderTools } from '../tool/render-tools.ts';
import type { ToolRequest } from '../tool/tool-command.ts';

/** Whoever adds one is told which secrets are missing, and a secrets command may take its time. */
const timeoutMs = 30_000;

/** Lists the tool servers of the assistant, or changes them. */
export async function tool(request: ToolRequest): Promise<number> {
  const url = `${coreUrl(loadSettings(repositoryRoot))}/v2/mcp`;
  const style = createStyle(process.stdout);
  switch (request.action) {
    case 'list':
      return show(await askCore<ToolServerDocument>(url), request, (body) => renderTools(body, style));
    case 'add': {
      const answer = await askCore<ToolServerSaved>(url, { body: { name: request.name, ...request.fields }, timeoutMs });
      return show(answer, request, ({ name, replaced, server, warnings }) =>
        [
          `${name} is ${replaced ? 'replaced' : 'added'}${server.enabled ? '; the next turn has it.' : ', switched off.'}`,
          ...warnings.map((warning) => style.yellow(visibleLine(warning))),
        ].join('\n'),
      );
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

const serverUrl = (url: string, name: string): string => `${url}/${encodeURIComponent(name)}`;

const helpOf: Readonly<Record<ToolRequest['action'], string>> = {
  list: './svc doctor',
  add: './svc tool add --help',
  import: './svc tool import --help',
  remove: './svc tool list',
  toggle: './svc tool list',
};

function show<T>(answer: CoreAnswer<T>, { action, json }: ToolRequest, render: (body: T) => string): number {
  if (json === true) print(JSON.stringify(answer.body, null, 2));
  else if (answer.ok) print(render(answer.body));
  else throw new CliError('nothing was changed.', { why: answer.body.message, run: helpOf[action] });
  return answer.ok ? exitCodes.ok : exitCodes.failed;
}
