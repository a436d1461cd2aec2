import type { Session } from '@svc/contract/session.ts';
import type { Identity } from '@svc/contract/trust.ts';
import type { Turn } from '../turn/turn.ts';
import type { OpenSession } from './session-store.ts';

export type SessionTitle = Pick<Session, 'title' | 'title_by'>;

/** A turn that was answered: who asked, in which session, by which engine. */
export type Answered = {
  turn: Turn;
  identity: Identity;
  session: Pick<OpenSession, 'title_by'>;
  engineId: string;
  reply: string;
};

/**
 * The titles of sessions: at first the beginning of the first message, after the first answer a title by a model. A person's title
 * overrides both. No turn waits for this.
 */
export interface Titles {
  /** A turn has opened its session. */
  opened(turn: Turn, session: Pick<OpenSession, 'title_by'>): void;
  answered(answered: Answered): void;
  /** Sets a person's title; null lets the service title the session again. Returns null when there is no such session. */
  set(key: string, title: string | null): Promise<SessionTitle | null>;
  /** The session is gone. */
  forget(key: string): void;
  close(): Promise<void>;
}
