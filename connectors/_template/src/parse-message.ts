import { randomUUID } from 'node:crypto';
import { badRequest, type Attachment } from '@svc/connector-kit';

/** What a caller sends. */
export type Message = {
  /** The channel's own id of the message: the assistant answers one of an id once, however often it comes. */
  id: string;
  user: string;
  name?: string;
  text: string;
  attachments?: Attachment[];
};

/** Anything that came from outside → a message, or an error that says what is wrong. */
export function parseMessage(body: unknown): Message {
  if (typeof body !== 'object' || body === null) throw badRequest('The body has to be an object.');
  const { id, user, name, text } = body as Record<string, unknown>;
  if (!isText(user)) throw badRequest('"user" has to say who writes.');
  if (!isText(text)) throw badRequest('"text" is missing.');
  return { id: isText(id) ? id : randomUUID(), user, text, ...(isText(name) && { name }) };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';
