import { LOG_LEVEL_META_KEY, McpServer, ResourceTemplate, type AuthInfo, type LoggingLevel } from '@modelcontextprotocol/server';
import { errorText, type SessionAsker } from '@svc/connector-kit';
import { cutText } from '@svc/service-kit/cut-text.ts';
import { meta } from '../meta.ts';
import { toNotification, type OpenStreams } from '../notes/open-streams.ts';
import { noteLine, type WaitingNotes } from '../notes/waiting-notes.ts';
import { ask, type AskDeps } from './ask.ts';
import { askInput, askOutput } from './ask-input.ts';
import { listConversations, readConversation } from './conversations.ts';
import { scopeOf, type RequestScope } from './mcp-auth.ts';
import type { OpenAccess } from './open-access.ts';
import type { RunningCalls } from './running-calls.ts';

export type ServerDeps = AskDeps & {
  assistantName: string;
  version: string;
  notes: WaitingNotes;
  streams: OpenStreams;
  running: RunningCalls;
  access: OpenAccess;
};

const notesUri = 'notes://waiting';

/** The server of one request, or of one legacy stream: one tool, and what was said as resources. */
export function createServer(deps: ServerDeps, auth: AuthInfo | undefined): McpServer {
  const scope = scopeOf(auth);
  const { assistantName, version } = deps;
  const server = new McpServer({ name: assistantName, version }, { capabilities: { logging: {} } });
  addAskTool(server, deps, scope);
  addResources(server, deps, scope);
  return server;
}

function addAskTool(server: McpServer, deps: ServerDeps, scope: RequestScope): void {
  const { assistantName: name, streams, running, access } = deps;
  const config = {
    title: `Ask ${name}`,
    description: `Ask ${name}, the assistant of this service, and get its answer. It remembers the conversation and has its own tools.`,
    inputSchema: askInput,
    outputSchema: askOutput,
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
  };
  server.registerTool(toolName(name), config, async (question, { mcpReq }) => {
    const { caller, requestId } = scope;
    const { _meta: about } = mcpReq;
    const token = about?.progressToken;
    const notify = ({ progress, message }: { progress: number; message: string }) => {
      if (token === undefined) return;
      // A client that is gone is found out by `signal`.
      void mcpReq
        .notify({ method: 'notifications/progress', params: { progressToken: token, progress, message } })
        .catch(() => undefined);
    };
    const call = running.begin(caller.clientId, mcpReq.id);
    const over = access.begin(caller.clientId, call.stop);
    // To a client of the new era, closing the connection is to cancel. An old one says so, and its connection may just have broken.
    const isOld = mcpReq.envelope === undefined;
    const signal = isOld ? call.signal : AbortSignal.any([mcpReq.signal, call.signal]);
    const leave = hearsMessages(mcpReq.envelope)
      ? streams.add(caller.userId, (text) => mcpReq.notify(toNotification(text)))
      : () => undefined;
    try {
      const asked = ask(deps, { question, caller, requestId, signal, notify });
      scope.keeps(asked);
      const answered = await asked;
      if (!answered.ok) return { content: [{ type: 'text', text: answered.message }], isError: true };
      const { answer, conversation_key, usage } = answered;
      if (isOld) keepIfLost(deps, scope, `The answer to "${cutText(question.question, 100)}": ${answer}`);
      const notes = await showNotes(deps, scope);
      return { content: [...notes, { type: 'text', text: answer }], structuredContent: { answer, conversation_key, usage } };
    } finally {
      leave();
      over();
      call.end();
    }
  });
}

/** A client of the new era says with each request from which level on it wants to be told; one that does not must not be. */
function hearsMessages(envelope: { [LOG_LEVEL_META_KEY]?: LoggingLevel } | undefined): boolean {
  if (envelope === undefined) return true; // an old one, which says nothing
  const level = envelope[LOG_LEVEL_META_KEY];
  return level === 'debug' || level === 'info' || level === 'notice';
}

/** An answer that its client does not get, because it has left meanwhile, waits for the next one. */
function keepIfLost(
  { notes, clock, ids, log }: ServerDeps,
  { caller: { userId }, onSent, left }: RequestScope,
  text: string,
): void {
  const keep = () => {
    notes.add(userId, { id: ids.next('note'), text, at: clock.now() }).catch((error: unknown) => {
      log('warn', 'an answer whose client had left could not be kept', { error: errorText(error) });
    });
  };
  if (left.aborted) return keep();
  left.addEventListener('abort', keep, { once: true });
  onSent(() => left.removeEventListener('abort', keep));
}

/** They wait on until the answer that holds them is with the client. */
async function showNotes({ notes, log }: ServerDeps, { caller: { userId }, onSent }: RequestScope) {
  const waiting = await notes.list(userId);
  if (waiting.length === 0) return [];
  const remove = () =>
    notes.remove(userId, waiting).catch((error: unknown) => {
      log('warn', 'messages that were already shown could not be removed and will be shown again', { error: errorText(error) });
    });
  onSent(() => void remove());
  const text = ['Messages sent to you in the meantime:', ...waiting.map(noteLine)].join('\n');
  return [{ type: 'text' as const, text }];
}

function addResources(server: McpServer, { core, notes }: ServerDeps, { caller }: RequestScope): void {
  const as: SessionAsker = { channel: meta.type, sender: { raw_id: caller.userId, raw_username: caller.username } };
  const template = new ResourceTemplate('conversation://{+key}', { list: () => listConversations(core.sessions, as) });
  const about = { title: 'Conversations', description: 'The messages of each conversation.', mimeType: 'text/markdown' };
  server.registerResource('conversations', template, about, async (uri, { key }) => ({
    contents: [await readConversation(core.sessions, as, uri.href, String(key))],
  }));
  const waiting = {
    title: 'Waiting messages',
    description: 'Messages from the assistant that you have not seen yet.',
    mimeType: 'text/plain',
  };
  server.registerResource('notes', notesUri, waiting, async () => ({
    contents: [{ uri: notesUri, mimeType: 'text/plain', text: (await notes.list(caller.userId)).map(noteLine).join('\n') }],
  }));
}

/** A tool's name has ASCII letters, digits, `_` and `-`. */
export const toolName = (assistantName: string): string =>
  `ask_${assistantName.toLowerCase().replace(/[^a-z0-9_-]+/g, '_')}`.slice(0, 64);
