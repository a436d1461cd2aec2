import type { ListedSession } from '@svc/contract/session.ts';
import type { Terminal, TerminalList } from '@svc/contract/terminal.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { CliError } from '../cli-error.ts';
import { askCollector, askCore } from '../service-client.ts';
import { coreUrl } from '../service-urls.ts';
import { refusal } from '../show-answer.ts';
import { visibleLine } from '../terminal.ts';

/** The programs in terminals. `others`: those that a person started; null when the collector, which finds them, does not answer. */
export type Found = { own: Terminal[]; others: ListedSession[] | null };

const maxSessions = 200;

/** @throws CliError when the core does not list the terminals it has started */
export async function listTerminals(settings: CliSettings): Promise<Found> {
  const answer = await askCore<TerminalList>(`${coreUrl(settings)}/v2/terminals`);
  if (!answer.ok) throw refusal(answer.body, { what: 'the terminals cannot be listed.', run: './svc status' });
  const own = answer.body.terminals;
  const keys = new Set(own.map(({ conversation_key }) => conversation_key));
  const sessions = await askCollector<{ sessions: ListedSession[] }>(settings, '/api/sessions', { active: 1, limit: maxSessions })
    .then((body) => body.sessions)
    .catch((error: unknown) => {
      if (error instanceof CliError) return null;
      throw error;
    });
  const isOther = ({ source, pid, conversation_key }: ListedSession) =>
    source !== 'core' && pid !== null && !keys.has(conversation_key);
  return { own, others: sessions?.filter(isOther) ?? null };
}

export type Named = { key: string; own: Terminal | null; other: ListedSession | null };

/** The terminal with this id or conversation. @throws CliError when there is none */
export async function findTerminal(settings: CliSettings, name: string): Promise<Named> {
  const { own, others } = await listTerminals(settings);
  const mine = own.find(({ id, conversation_key }) => id === name || conversation_key === name);
  if (mine !== undefined) return { key: mine.conversation_key, own: mine, other: null };
  const other = others?.find(({ conversation_key }) => conversation_key === name);
  if (other !== undefined) return { key: name, own: null, other };
  const why = others === null ? 'The collector, which knows the programs that you started yourself, does not answer.' : undefined;
  throw new CliError(`no program runs in a terminal "${visibleLine(name)}".`, { why, run: './svc terminal' });
}
