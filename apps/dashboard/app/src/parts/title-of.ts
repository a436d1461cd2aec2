import { shorten } from '@svc/chat-ui/language/shorten.ts';
import type { ListedSession } from '@svc/contract/session.ts';

/** What a session is called in a list: its title, else what was said last. */
export const titleOf = ({ title, last_text: text, conversation_key: key }: Titled): string =>
  title ?? (text === null ? key : shorten(text, 80));

type Titled = Pick<ListedSession, 'title' | 'last_text' | 'conversation_key'>;
