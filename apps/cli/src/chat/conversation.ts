import type { TurnProgress } from '@svc/contract/turn.ts';
import type { ChatSession, MessageContent } from './chat-session.ts';
import type { TurnEnd } from './stream-turn.ts';
import type { TurnView } from './turn-view.ts';

/** Messages that are being sent, and how they are shown: one turn at a time, in the order of the core. */
export type Conversation = {
  /** Sends a message at once; the core queues it behind a running turn. `label`: how it is shown. */
  say(content: MessageContent | Promise<MessageContent>, label: string): void;
  isBusy(): boolean;
  /** The turn that is shown now, and since when. */
  current(): { view: TurnView; since: number } | null;
  /** The labels of the messages queued behind it. */
  waiting(): string[];
  /** Resolves when no message is pending. */
  idle(): Promise<void>;
};

type Entry = { label: string; view: TurnView | null; since: number; frames: TurnProgress[]; end: TurnEnd | Error | null };

type Deps = {
  session: Pick<ChatSession, 'run'>;
  /** Starts to show a turn. */
  open: (label: string) => TurnView;
  /** A message could not be sent, or its answer could not be read. */
  onFault: (error: unknown) => void;
  onAway: () => void;
  onChange: () => void;
};

export function createConversation({ session, open, onFault, onAway, onChange }: Deps): Conversation {
  const entries: Entry[] = [];
  let sending: Promise<void> = Promise.resolve();
  let waiters: (() => void)[] = [];

  const finish = (entry: Entry) => {
    entries.splice(entries.indexOf(entry), 1);
    const view = entry.view ?? open(entry.label);
    if (entry.end instanceof Error) onFault(entry.end);
    else if (entry.end !== null) view.finish(entry.end);
  };

  /** Shows the frames of the first message, then of the next. Immediate answers (commands, refusals) do not wait for the others. */
  const advance = () => {
    for (const entry of entries.slice(1)) if (answersAtOnce(entry.end)) finish(entry);
    for (let first = entries[0]; first !== undefined; first = entries[0]) {
      first.view ??= open(first.label);
      first.since ||= performance.now();
      for (const frame of first.frames.splice(0)) first.view.show(frame);
      if (first.end === null) break;
      finish(first);
    }
    onChange();
    if (entries.length === 0) for (const wake of waiters.splice(0)) wake();
  };

  /** Resolves when the message has its place in the queue. */
  const send = (entry: Entry, content: MessageContent | Promise<MessageContent>) =>
    new Promise<void>((resolve) => {
      const onFrame = (frame: TurnProgress) => {
        // Waiting behind a turn that is shown here is visible already.
        if (frame.type === 'queued' && entry !== entries[0]) return;
        entry.frames.push(frame);
        advance();
      };
      const end = (ended: TurnEnd | Error) => {
        entry.end = ended;
        advance();
        resolve();
      };
      // `run` returns the last frame, so all frames passed to the callback are progress.
      Promise.resolve(content)
        .then((said) =>
          session.run(said, { showsAsks: true, onAccepted: resolve, onAway, onFrame: (frame) => onFrame(frame as TurnProgress) }),
        )
        .then(end, (error: unknown) => end(error instanceof Error ? error : new Error(String(error))));
    });

  return {
    say(content, label) {
      const entry: Entry = { label, view: null, since: 0, frames: [], end: null };
      entries.push(entry);
      sending = sending.then(() => send(entry, content));
      advance();
    },
    isBusy: () => entries.length > 0,
    current: () => {
      const first = entries[0];
      return first?.view == null ? null : { view: first.view, since: first.since };
    },
    waiting: () => entries.slice(1).map(({ label }) => label),
    idle: () => (entries.length === 0 ? Promise.resolve() : new Promise((resolve) => waiters.push(resolve))),
  };
}

/** Only replies of an engine wait for their turn to be shown; commands, refusals and the like do not. */
const answersAtOnce = (end: Entry['end']): boolean =>
  end !== null && (end instanceof Error || end.type === 'error' || end.result.outcome !== 'replied');
