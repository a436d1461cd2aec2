import type { Clock } from '@svc/service-kit/clock.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { Database } from '@svc/store/database.ts';
import type { Announcements } from '../announcement/announcements.ts';
import type { UnreadMail } from '../announcement/unread-mail.ts';
import type { TerminalSessions } from '../session/terminal-sessions.ts';
import type { Pipeline } from '../turn/pipeline.ts';
import type { TurnJournal } from '../turn/turn-journal.ts';
import type { TerminalTalks } from './terminal-talks.ts';
import { createTerminalWords, type TerminalWords } from './terminal-words.ts';
import type { Terminals } from './terminals.ts';
import type { TmuxServer } from './tmux-server.ts';
import { createWordStore } from './word-store.ts';

type Deps = {
  db: Pick<Database, 'all' | 'get' | 'run' | 'transaction'>;
  sessions: Pick<TerminalSessions, 'readMail' | 'unreadMail'>;
  tmux: Pick<TmuxServer, 'screen'>;
  terminals: Pick<Terminals, 'list'>;
  talks: Pick<TerminalTalks, 'saidSince'>;
  announcements: Pick<Announcements, 'onPosted'>;
  unread(conversationKey: string): Promise<UnreadMail | null>;
  journal: Pick<TurnJournal, 'find'>;
  inject: Pipeline['inject'];
  clock: Pick<Clock, 'now' | 'after'>;
  ids: Pick<Ids, 'next'>;
  log: Pick<Log, 'info' | 'error'>;
};

/** Connects messages for sessions in terminals with the mailbox, the journal and tmux. */
export function openTerminalWords(deps: Deps): TerminalWords {
  const { db, sessions, tmux, terminals, talks, announcements, journal, ids } = deps;
  const words = createTerminalWords({
    ...deps,
    store: createWordStore(db, sessions),
    screen: tmux.screen,
    terminals: terminals.list,
    saidSince: talks.saidSince,
    sayOverChannel: ({ messageId, ...said }, onAccepted) =>
      deps.inject(
        { ...said, message_id: messageId, isReturned: true },
        { sink: null, isGone: () => true, onAccepted },
        ids.next('req'),
      ),
    hasMessage: async (key, messageId) => (await journal.find(key, messageId)) !== undefined,
  });
  announcements.onPosted(words.announced);
  return words;
}
