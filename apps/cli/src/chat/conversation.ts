import type { TurnProgress } from '@svc/contract/turn.ts';
import type { ChatSession, MessageContent } from './chat-session.ts';
import type { TurnEnd } from './stream-turn.ts';
import type { TurnView } from './turn-view.ts';

/** Messages that are on their way, and what is shown of them: one turn at a time, in the order of the core. */
export type Conversation = {
  /** Sends a message at once; the core has it wait where a turn runs. `label`: what is shown of it. */
  say(content: MessageContent | Promise<MessageContent>, label: string): void;
  isBusy(): boolean;
  /** The turn that is shown at the moment, and since when. */
  current(): { view: TurnView; since: number } | null;
  /** The labels of those behind it. */
  waiting(): string[];
  /** Resolves when nothing is on its way. */
  idle(): Promise<void>;
};

type Entry = { label: string; view: TurnView | null; since: number; frames: TurnProgress[]; end: TurnEnd | Error | null };

type Deps = {
  session: Pick<ChatSession, 'run'>;
  /** Begins to show a turn. */
  open: (label: string) => TurnView;
  /** A message could not be sent, or its answer not be read. */
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

  /** Shows what has come of the first, then of the next; what answers at once does not wait for the others. */
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

  /** Resolves when the message has its place in line. */
  const send = (entry: Entry, content: MessageContent | Promise<MessageContent>) =>
    new Promise<void>((resolve) => {
      const onFrame = (frame: TurnProgress) => {
        // That it waits behind a turn that is shown here is seen.
        if (frame.type === 'queued' && entry !== entries[0]) return;
        entry.frames.push(frame);
        advance();
      };
      const end = (ended: TurnEnd | Error) => {
        entry.end = ended;
        advance();
        resolve();
      };
      // The endings come as what `run` gives, so that all other frames are progress.
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

/** A reply of an engine is shown in its turn; commands, refusals and the like are not held up by it. */
const answersAtOnce = (end: Entry['end']): boolean =>
  end !== null && (end instanceof Error || end.type === 'error' || end.result.outcome !== 'replied');
