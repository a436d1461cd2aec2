import type { WorkingFolder } from '@svc/contract/folder.ts';
import type { History, Session } from '@svc/contract/session.ts';
import { folderPath } from '../folder/folder-path.ts';
import { renderSession } from '../folder/render-folders.ts';
import { askCore, type ServiceAnswer } from '../service-client.ts';
import { showAnswer } from '../show-answer.ts';
import { createStyle, quoted, visible, visibleLine } from '../terminal.ts';
import { renderHistory } from './render-history.ts';
import type { SessionRequest } from './session-command.ts';
import { watchSession } from './watch-session.ts';

type Of<Action extends SessionRequest['action']> = SessionRequest & { action: Action };
type Titled = Pick<Session, 'title' | 'title_by'>;
type Claimed = Pick<Session, 'engine_id' | 'engine_session_id' | 'cwd' | 'claimed_by'>;
type Injected = { reply: string; delivered: boolean; deliverErr: string | null; outcome: string; terminal?: string };

const run = './svc session list --all';
/** A turn may take hours. */
const answerMs = 24 * 3_600_000;
/** The command that helps after a refusal: for the session, or for the list when the session is unknown. */
const lookAt = <T>(answer: ServiceAnswer<T>, key: string): string =>
  !answer.ok && answer.body.error === 'not_found' ? run : `./svc session show ${quoted(visibleLine(key))}`;
const sessionUrl = (core: string, key: string) => `${core}/v2/session/${encodeURIComponent(key)}`;
const style = () => createStyle(process.stdout);

/** Performs an action on one conversation. `core`: address of the core. Returns the exit code. */
export function changeSession(core: string, request: SessionRequest): Promise<number> {
  switch (request.action) {
    case 'show':
      return show(core, request as Of<'show'>);
    case 'history':
      return history(core, request as Of<'history'>);
    case 'watch':
      return watchSession(sessionUrl(core, request.key), request);
    case 'title':
      return title(core, request as Of<'title'>);
    case 'inject':
      return inject(core, request as Of<'inject'>);
    case 'claim':
      return claim(core, request as Of<'claim'>);
    case 'set':
      return setFolder(core, request as Of<'set'>);
    case 'abort':
    case 'release':
      return steer(core, request as Of<'abort'>, request.action);
    case 'forget':
      return forget(core, request as Of<'forget'>);
  }
}

async function show(core: string, request: Of<'show'>): Promise<number> {
  const answer = await askCore<Session>(sessionUrl(core, request.key));
  return showAnswer(answer, request, { what: 'it cannot be shown.', run }, (body) => renderSession(body, style()));
}

async function history(core: string, request: Of<'history'>): Promise<number> {
  const { limit, before } = request;
  const query = `limit=${limit}${before === undefined ? '' : `&before=${before}`}`;
  const answer = await askCore<History>(`${sessionUrl(core, request.key)}/history?${query}`);
  return showAnswer(answer, request, { what: 'it cannot be shown.', run }, (body) => renderHistory(body, style()));
}

async function title(core: string, request: Of<'title'>): Promise<number> {
  const url = sessionUrl(core, request.key);
  if (request.title === undefined) {
    const answer = await askCore<Session>(url);
    const facts = answer.ok ? { ...answer, body: { title: answer.body.title, title_by: answer.body.title_by } } : answer;
    return showAnswer<Titled>(facts, request, { what: 'it cannot be shown.', run }, titleLine);
  }
  const answer = await askCore<Titled>(url, { method: 'PATCH', body: { title: request.title } });
  return showAnswer(answer, request, { what: 'nothing was changed.', run }, (body) =>
    request.title === null ? `It has the service's title again: ${titleLine(body)}` : titleLine(body),
  );
}

const givenBy = { words: 'the first words', model: 'made by a model', person: 'given by a person' } as const;

const titleLine = ({ title: text, title_by }: Titled): string =>
  text === null || title_by === null ? 'none yet' : `${visibleLine(text)} (${givenBy[title_by]})`;

async function inject(core: string, request: Of<'inject'>): Promise<number> {
  const { key, text, by, interrupt } = request;
  const body = { conversation_key: key, text, by, interrupt };
  const answer = await askCore<Injected>(`${core}/v2/inject`, { body, timeoutMs: answerMs });
  return showAnswer(answer, request, { what: 'the message was not sent.', run: lookAt(answer, key) }, renderInjected);
}

function renderInjected({ reply, delivered, deliverErr, outcome, terminal }: Injected): string {
  if (terminal !== undefined)
    return delivered ? `Typed in ${terminal}.` : `Not typed yet: ${visibleLine(deliverErr ?? 'the reason is unknown')}`;
  if (reply === '') return `There is no answer: the turn ended as ${outcome}.`;
  const note = delivered ? [] : ['', `It has not reached the channel: ${visibleLine(deliverErr ?? 'the reason is unknown')}`];
  return [visible(reply), ...note].join('\n');
}

async function claim(core: string, request: Of<'claim'>): Promise<number> {
  const { key, by } = request;
  const answer = await askCore<Claimed>(`${core}/v2/claim`, { body: { conversation_key: key, by } });
  return showAnswer(answer, request, { what: 'it was not claimed.', run: lookAt(answer, key) }, (body) =>
    [
      `Claimed by ${visibleLine(body.claimed_by ?? '')}. Its messages are only noted until: ./svc session release ${quoted(visibleLine(key))}`,
      `  ${visibleLine(`${body.engine_id} session ${body.engine_session_id}${body.cwd === null ? '' : `, in ${body.cwd}`}`)}`,
    ].join('\n'),
  );
}

async function steer(core: string, request: Of<'abort'>, action: 'abort' | 'release'): Promise<number> {
  const { key } = request;
  const answer = await askCore(`${core}/v2/${action}`, { body: { conversation_key: key } });
  const [done, refused] =
    action === 'abort' ? ['Its turn is stopped.', 'nothing was stopped.'] : ['It is released.', 'nothing was released.'];
  return showAnswer(answer, request, { what: refused, run: './svc session' }, () => done);
}

async function setFolder(core: string, request: Of<'set'>): Promise<number> {
  const cwd = request.cwd === null ? null : folderPath(request.cwd);
  const body = { cwd, ...(request.for === undefined || cwd === null ? {} : { for: request.for }) };
  const answer = await askCore<{ folder: WorkingFolder | null }>(sessionUrl(core, request.key), { method: 'PATCH', body });
  return showAnswer(answer, request, { what: 'nothing was changed.', run }, ({ folder }) =>
    folder === null
      ? 'This conversation works in the usual folder again.'
      : visibleLine(`This conversation works in ${folder.path} from its next turn on.`),
  );
}

async function forget(core: string, request: Of<'forget'>): Promise<number> {
  const answer = await askCore(sessionUrl(core, request.key), { method: 'DELETE' });
  return showAnswer(answer, request, { what: 'nothing was forgotten.', run }, () => 'It is forgotten, with its files.');
}
