import type { EngineView } from '@svc/contract/engine.ts';
import type { Terminal } from '@svc/contract/terminal.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { CliError } from '../cli-error.ts';
import { folderPath } from '../folder/folder-path.ts';
import { repositoryRoot } from '../repository-root.ts';
import { askCore, tellCollector } from '../service-client.ts';
import { coreUrl } from '../service-urls.ts';
import { refusal, showAnswer } from '../show-answer.ts';
import { createStyle, print } from '../terminal.ts';
import { attach, attachCommand } from '../terminals/attach-terminal.ts';
import { findTerminal, listTerminals } from '../terminals/find-terminal.ts';
import { renderStarted, renderTerminals } from '../terminals/render-terminals.ts';
import type { SendOptions, StartOptions, TerminalRequest } from '../terminals/terminal-command.ts';

/** Covers tmux, and a program that cleans up before it ends. */
const controlMs = 20_000;

/** Starts the programs of engines in terminals; lists, shows, steers and ends them. Returns the exit code. */
export async function terminal(request: TerminalRequest): Promise<number> {
  const settings: CliSettings = loadSettings(repositoryRoot);
  const show = (facts: unknown, text: string) => {
    print(request.json === true ? JSON.stringify(facts, null, 2) : text);
    return exitCodes.ok;
  };
  switch (request.action) {
    case 'list': {
      const found = await listTerminals(settings);
      const { own: terminals, others: sessions } = found;
      return show({ terminals, sessions }, renderTerminals(found, Date.now(), createStyle(process.stdout)));
    }
    case 'start':
      return start(settings, request);
    case 'attach':
      await attach(attachCommand(await findTerminal(settings, request.name)));
      return exitCodes.ok;
    case 'send': {
      const { key } = await findTerminal(settings, request.name);
      const body = { session_id: key, ...keysOf(request) };
      return show(await tellCollector(settings, '/api/control/send-keys', controlMs, body), 'Sent.');
    }
    case 'end': {
      const { key, own } = await findTerminal(settings, request.name);
      if (own !== null && request.hard !== true) return endOwn(settings, own, request);
      const body = { session_id: key, hard: request.hard === true };
      return show(await tellCollector(settings, '/api/control/kill', controlMs, body), 'It is ended.');
    }
  }
}

const keysOf = ({ text, key, enter }: SendOptions & { text: string }): object =>
  key === undefined ? { text, enter } : { keys: key };

async function start(settings: CliSettings, request: StartOptions): Promise<number> {
  const { session, cwd } = request;
  const engine = request.engine ?? (session === undefined ? await defaultEngine(settings) : undefined);
  const body = { conversation_key: session, engine, ...(cwd !== undefined && { cwd: folderPath(cwd) }) };
  const answer = await askCore<Terminal>(`${coreUrl(settings)}/v2/terminals`, { body });
  const code = showAnswer(answer, request, { what: 'nothing was started.', run: './svc terminal' }, (started) =>
    renderStarted(started, session !== undefined),
  );
  if (answer.ok && request.attach === true) await attach(answer.body.attach);
  return code;
}

async function defaultEngine(settings: CliSettings): Promise<string> {
  const answer = await askCore<{ engines: EngineView[] }>(`${coreUrl(settings)}/v2/engines`);
  const help = { what: 'nothing was started.', run: './svc engine' };
  if (!answer.ok) throw refusal(answer.body, help);
  const found = answer.body.engines.find((engine) => engine.default);
  if (found === undefined) throw new CliError(help.what, { why: 'There is no default engine.', run: help.run });
  return found.id;
}

async function endOwn(settings: CliSettings, { id }: Terminal, request: { json?: boolean }): Promise<number> {
  const answer = await askCore(`${coreUrl(settings)}/v2/terminals/${encodeURIComponent(id)}`, { method: 'DELETE' });
  return showAnswer(answer, request, { what: 'it was not ended.', run: './svc terminal' }, () => 'It is ended.');
}
