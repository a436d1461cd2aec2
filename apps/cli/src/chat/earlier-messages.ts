import { askCore } from '../service-client.ts';
import type { ChatSession } from './chat-session.ts';

type History = { messages: { role: string; text: string }[] };

const most = 100;

/** What was said here before, oldest first: arrow-up brings it back. Kept nowhere but in the conversation itself. */
export async function earlierMessages({ coreUrl, conversationKey }: ChatSession): Promise<string[]> {
  const url = `${coreUrl}/v2/session/${encodeURIComponent(conversationKey)}/history?limit=${most}`;
  const answer = await askCore<History>(url);
  return answer.ok ? answer.body.messages.filter(({ role, text }) => role === 'user' && text !== '').map(({ text }) => text) : [];
}
