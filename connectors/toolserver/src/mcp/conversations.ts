import type { History, SessionAsker, SessionsApi } from '@svc/connector-kit';

const scheme = 'conversation://';
const newest = 100;
const speakers: Record<History['messages'][number]['role'], string> = {
  user: 'Question',
  operator: 'Operator',
  assistant: 'Answer',
  error: 'Fault',
};

const uriOf = (key: string): string => `${scheme}${encodeURIComponent(key)}`;

/** The conversations that a user may see, newest first. */
export async function listConversations(sessions: SessionsApi, as: SessionAsker) {
  const page = await sessions.list(as, { limit: newest });
  return {
    resources: page.sessions.map(({ conversation_key: key, title }) => ({
      uri: uriOf(key),
      name: title ?? key,
      mimeType: 'text/markdown',
    })),
  };
}

/** What was said in one of them: its newest messages, oldest first. */
export async function readConversation(sessions: SessionsApi, as: SessionAsker, uri: string, key: string) {
  const { messages, next } = await sessions.history(as, decodeURIComponent(key), { limit: newest });
  const parts = messages.map(({ role, at, text }) => `**${speakers[role]}** (${new Date(at).toISOString()})\n\n${text}`);
  const text = [...(next === null ? [] : ['(Earlier messages are left out.)']), ...parts].join('\n\n---\n\n');
  return { uri, mimeType: 'text/markdown', text };
}
