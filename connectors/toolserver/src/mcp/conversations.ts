import { ResourceNotFoundError } from '@modelcontextprotocol/server';
import { ServiceError, type History, type SessionAsker, type SessionsApi } from '@svc/connector-kit';

/** What is another's is not there. */
const hidden = new Set(['not_found', 'forbidden', 'bad_request']);
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
export async function readConversation(sessions: SessionsApi, as: SessionAsker, uri: string, encoded: string) {
  const key = decoded(encoded);
  if (key === null) throw new ResourceNotFoundError(uri);
  const { messages, next } = await sessions.history(as, key, { limit: newest }).catch((error: unknown) => {
    throw error instanceof ServiceError && hidden.has(error.code) ? new ResourceNotFoundError(uri) : error;
  });
  const parts = messages.map(({ role, at, text }) => `**${speakers[role]}** (${new Date(at).toISOString()})\n\n${text}`);
  const text = [...(next === null ? [] : ['(Earlier messages are left out.)']), ...parts].join('\n\n---\n\n');
  return { uri, mimeType: 'text/markdown', text };
}

/** Null for what is no encoded text. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
