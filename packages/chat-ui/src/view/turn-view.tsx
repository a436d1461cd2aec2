import { Clock, Pencil, RotateCw, TriangleAlert, Volume2 } from 'lucide-react';
import { memo } from 'react';
import { t } from '../language/t.ts';
import { Markdown } from '../markdown/markdown.tsx';
import type { Conversation } from '../state/conversation.ts';
import { isOver, isRunning, type Turn, type Undelivered } from '../state/turn.ts';
import { CopyButton } from './code-block.tsx';
import { Files, type LoadFile } from './files.tsx';
import { Questions } from './questions.tsx';
import { Steps, Thinking } from './steps.tsx';
import { useTurn } from './use-turn.ts';

/** What a person can do to a turn. */
export type TurnActions = {
  answer(askId: string, option: string): Promise<string | null>;
  retry(key: string): void;
  edit(key: string): void;
  /** Sends the message of a failed turn again, as a new one; undefined for other people's messages. */
  repeat?: ((key: string) => void) | undefined;
  /** Loads a file of the conversation; undefined where files cannot be loaded. */
  load?: LoadFile | undefined;
  /** Sends a reply to its channel again; undefined where that is not possible. */
  deliver?: ((deliveries: readonly string[]) => void) | undefined;
  /** Undefined where nothing is read aloud. */
  speak?: ((text: string) => void) | undefined;
};

type Props = { conversation: Conversation; id: string; assistant: string; actions: TurnActions };

/** A message and what came of it. */
export const TurnView = memo(function TurnView({ conversation, id, assistant, actions }: Props) {
  const turn = useTurn(conversation, id);
  if (turn === undefined) return null;
  return (
    <>
      {turn.said !== null && <SaidView turn={turn} actions={actions} />}
      {(isRunning(turn) || isOver(turn)) && <ReplyView turn={turn} assistant={assistant} actions={actions} />}
    </>
  );
});

function SaidView({ turn, actions }: { turn: Turn; actions: TurnActions }) {
  const { said, phase, fault, key } = turn;
  if (said === null) return null;
  return (
    <div className="said">
      {said.origin === 'inject' && <span className="who">{t('Operator')}</span>}
      <div className="bubble">
        <Files files={said.attachments} load={actions.load} />
        {said.text !== '' && <p>{said.text}</p>}
      </div>
      <div className="below">
        {phase === 'sending' && (
          <span className="status">
            <Clock aria-hidden size={14} /> {fault ?? t('Sending')}
          </span>
        )}
        {phase === 'unsent' && (
          <>
            <span className="status failed">
              <TriangleAlert aria-hidden size={14} /> {t('Not sent.')} {fault}
            </span>
            <button type="button" className="quiet" onClick={() => actions.retry(key)}>
              <RotateCw aria-hidden size={14} /> {t('Send again')}
            </button>
            <button type="button" className="quiet" onClick={() => actions.edit(key)}>
              <Pencil aria-hidden size={14} /> {t('Edit')}
            </button>
          </>
        )}
        {phase !== 'sending' && phase !== 'unsent' && <time dateTime={new Date(turn.at).toISOString()}>{timeOf(turn.at)}</time>}
      </div>
    </div>
  );
}

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
const timeOf = (at: number): string =>
  new Date(at).toDateString() === new Date().toDateString() ? clock.format(at) : day.format(at);

function ReplyView({ turn, assistant, actions }: { turn: Turn; assistant: string; actions: TurnActions }) {
  const { thinking, steps, questions, text, files, phase, fault, undelivered } = turn;
  return (
    <div className="reply">
      <span className="who">{assistant}</span>
      <Thinking text={thinking} isLive={phase === 'thinking'} />
      <Steps steps={steps} />
      {text !== '' && <Markdown text={text} isLive={isRunning(turn)} />}
      <Files files={files} load={actions.load} />
      <Questions questions={questions} answer={actions.answer} />
      <Ending turn={turn} />
      {undelivered !== null && <NotDelivered undelivered={undelivered} deliver={actions.deliver} />}
      {phase === 'failed' && (
        <div className="fault">
          <TriangleAlert aria-hidden size={16} /> <p>{fault ?? t('The turn failed.')}</p>
          {actions.repeat !== undefined && turn.said?.origin === 'message' && (
            <button type="button" className="quiet" onClick={() => actions.repeat?.(turn.key)}>
              <RotateCw aria-hidden size={14} /> {t('Try again')}
            </button>
          )}
        </div>
      )}
      {isOver(turn) && text !== '' && (
        <div className="below">
          <CopyButton text={text} />
          {actions.speak !== undefined && (
            <button type="button" className="quiet" onClick={() => actions.speak?.(text)}>
              <Volume2 aria-hidden size={14} /> {t('Read aloud')}
            </button>
          )}
        </div>
      )}
    </div>
  );
}

function NotDelivered({ undelivered, deliver }: { undelivered: Undelivered; deliver: TurnActions['deliver'] }) {
  const { reason, isWaiting, deliveries } = undelivered;
  return (
    <div className="fault">
      <TriangleAlert aria-hidden size={16} />{' '}
      <p>{isWaiting ? t('Not delivered yet: {reason}', { reason }) : t('Not delivered: {reason}', { reason })}</p>
      {deliver !== undefined && deliveries.length > 0 && (
        <button type="button" className="quiet" onClick={() => deliver(deliveries)}>
          <RotateCw aria-hidden size={14} /> {isWaiting ? t('Try now') : t('Send it again')}
        </button>
      )}
    </div>
  );
}

/** What happens now, or that the turn ended without a text. */
function Ending({ turn: { phase, position, text, files } }: { turn: Turn }) {
  if (phase === 'queued')
    return <Working words={position > 0 ? t('Waiting: {count} ahead', { count: position }) : t('Waiting')} />;
  if (phase === 'thinking') return <Working words={t('Thinking')} />;
  if (phase === 'tool') return <Working words={t('Working')} />;
  if (phase === 'stopped') return <p className="muted">{t('Stopped.')}</p>;
  if (phase === 'silent') return <p className="muted">{t('No reply.')}</p>;
  return phase === 'done' && text === '' && files.length === 0 ? <p className="muted">{t('Done, without a text.')}</p> : null;
}

const Working = ({ words }: { words: string }) => (
  <p className="working">
    <span className="dots" aria-hidden>
      <i />
      <i />
      <i />
    </span>
    {words}
  </p>
);
