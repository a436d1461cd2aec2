import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { counted } from '@svc/service-kit/words.ts';
import type { EnginePersona, PersonaTier, PersonaView } from '@svc/contract/persona.ts';
import type { EngineChoice } from '@svc/contract/service.ts';
import { writeFileAtomic } from '@svc/service-kit/files.ts';
import { readEnv } from '@svc/service-kit/config/env-file.ts';
import { parseCommand } from '@svc/service-kit/config/parse-values.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { askCore } from '../service-client.ts';
import { CliError } from '../cli-error.ts';
import { coreUrl } from '../service-urls.ts';
import { repositoryRoot } from '../repository-root.ts';
import { createStyle, print, visible, visibleLine, type Style } from '../terminal.ts';
import { tierWord } from '../tier-words.ts';

export type PersonaOptions = { json?: boolean; engine?: string; tier?: PersonaTier };

const sources: Record<PersonaView['source'], string> = {
  'built-in': 'built in; your own words go into',
  extended: 'built in, extended by',
  replaced: 'replaced by',
};

/** Shows the persona, or its version for one engine. */
export async function showPersona(options: PersonaOptions): Promise<number> {
  return options.engine === undefined && options.tier === undefined ? show(await read(), options) : showOfEngine(options);
}

/** Opens the operator's part in an editor, then shows the result. */
export async function editPersona(options: { json?: boolean }): Promise<number> {
  edit((await read()).file);
  return show(await read(), options);
}

function show(view: PersonaView, { json }: { json?: boolean }): number {
  print(json === true ? JSON.stringify(view, null, 2) : rendered(view));
  return view.fault === null ? exitCodes.ok : exitCodes.failed;
}

/** The persona as one engine gets it in the turns of a tier. */
async function showOfEngine({ json, engine, tier = 'SACRED' }: PersonaOptions): Promise<number> {
  const id = engine ?? (await ask<{ current: EngineChoice }>('/v2/engines')).current.id;
  const view = await ask<EnginePersona>(`/v2/persona/${encodeURIComponent(id)}?tier=${tier}`);
  print(json === true ? JSON.stringify(view, null, 2) : renderEnginePersona(view, createStyle(process.stdout)));
  return exitCodes.ok;
}

const read = (): Promise<PersonaView> => ask<PersonaView>('/v2/persona');

async function ask<T>(route: string): Promise<T> {
  const answer = await askCore<T>(`${coreUrl(loadSettings(repositoryRoot))}${route}`);
  if (answer.ok) return answer.body;
  throw new CliError('the persona cannot be read.', { why: answer.body.message, run: './svc doctor' });
}

function edit(file: string): void {
  const env = readEnv(repositoryRoot);
  const editor = env['VISUAL'] ?? env['EDITOR'];
  if (editor === undefined) {
    throw new CliError('no editor is set.', {
      why: `Write into ${file} with any editor, or name one.`,
      run: 'EDITOR=nano ./svc persona edit',
    });
  }
  if (!existsSync(file)) writeFileAtomic(file, '');
  print('What you write is added to the built-in persona. To replace it, begin with the line <!-- replace -->');
  const [command = editor, ...args] = parseCommand(editor) ?? [editor];
  const { error, status } = spawnSync(command, [...args, file], { stdio: 'inherit' });
  if (error !== undefined)
    throw new CliError(`the editor "${editor}" does not start.`, { why: error.message, run: 'EDITOR=nano ./svc persona edit' });
  if (status !== 0) throw new CliError(`the editor ended with code ${String(status)}.`, { why: `What it saved is in ${file}.` });
}

function rendered({ text, bytes, source, file, fault }: PersonaView): string {
  const style = createStyle(process.stdout);
  const head = `${sources[source]} ${file} (${counted(bytes, 'byte')})`;
  return [style.dim(head), ...(fault === null ? [] : [style.yellow(fault)]), '', text].join('\n');
}

const tools: Record<EnginePersona['tool_policy'], string> = {
  none: 'no tools of its own',
  read: 'tools that read',
  full: 'every tool',
};

/** The text that an engine gives its model, and the text that its program adds. */
export function renderEnginePersona({ engine, tier, tool_policy, text, bytes, added }: EnginePersona, style: Style): string {
  const head = `${visibleLine(engine)} in a turn of ${tierWord(tier)}, with ${tools[tool_policy]} (${counted(bytes, 'byte')}):`;
  const more =
    added.length === 0
      ? [style.dim('Its program adds nothing to it.')]
      : [style.dim('Its program adds:'), ...added.map((line) => `- ${visibleLine(line)}`)];
  return [style.dim(head), '', visible(text), '', ...more].join('\n');
}
