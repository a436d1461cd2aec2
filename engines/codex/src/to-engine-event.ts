import type { EngineEvent } from '@svc/engine-kit/engine.ts';
import { toolServerMissing } from '@svc/engine-kit/tool-servers.ts';
import type { ThreadItem, TurnNotification } from './codex-messages.ts';

/** Converts a notification to events of the turn. The turn itself handles usage and the end. */
export function toEngineEvents(notification: TurnNotification): EngineEvent[] {
  switch (notification.method) {
    case 'item/agentMessage/delta':
      return [{ type: 'delta', text: notification.params.delta }];
    case 'item/reasoning/summaryTextDelta':
    case 'item/reasoning/textDelta':
      return [{ type: 'thinking', text: notification.params.delta }];
    case 'item/reasoning/summaryPartAdded':
      return notification.params.summaryIndex > 0 ? [{ type: 'thinking', text: '\n\n' }] : [];
    case 'item/started':
      return startedItem(notification.params.item);
    case 'item/completed':
      return completedItem(notification.params.item);
    case 'error':
      return notification.params.willRetry ? [{ type: 'notice', code: 'retry', message: notification.params.error.message }] : [];
    case 'model/rerouted':
      return [{ type: 'notice', code: 'other', message: `The vendor switched to the model ${notification.params.toModel}.` }];
    case 'mcpServer/startupStatus/updated':
      return toolServerNotice(notification.params);
    default:
      return [];
  }
}

function startedItem(item: ThreadItem): EngineEvent[] {
  switch (item.type) {
    case 'commandExecution':
      return [{ type: 'tool', id: item.id, name: 'shell', input: { command: item.command, cwd: item.cwd } }];
    case 'fileChange':
      return [{ type: 'tool', id: item.id, name: 'edit_files', input: { paths: item.changes.map(({ path }) => path) } }];
    case 'mcpToolCall':
      return [{ type: 'tool', id: item.id, name: `mcp__${item.server}__${item.tool}`, input: item.arguments }];
    case 'webSearch':
      return [{ type: 'tool', id: item.id, name: 'web_search', input: { query: item.query ?? '' } }];
    case 'imageView':
      return [{ type: 'tool', id: item.id, name: 'view_image', input: { path: item.path } }];
    default:
      return [];
  }
}

function completedItem(item: ThreadItem): EngineEvent[] {
  switch (item.type) {
    case 'agentMessage':
      return item.text === '' ? [] : [{ type: 'segment', text: item.text }];
    case 'commandExecution':
      return [result(item.id, item.status === 'completed' && item.exitCode === 0, item.aggregatedOutput ?? '')];
    case 'fileChange':
      return [result(item.id, item.status === 'completed', item.status)];
    case 'mcpToolCall':
      return [result(item.id, item.status === 'completed', item.error?.message ?? contentText(item.result?.content ?? []))];
    case 'webSearch':
    case 'imageView':
      return [result(item.id, true, '')];
    default:
      return [];
  }
}

const result = (id: string, ok: boolean, output: string): EngineEvent => ({ type: 'tool_result', id, ok, output });

const contentText = (content: unknown[]): string =>
  content
    .map((part) => (typeof part === 'object' && part !== null && 'text' in part ? String(part.text) : JSON.stringify(part)))
    .join('\n');

const toolServerNotice = ({ name, status, error }: { name: string; status: string; error: string | null }): EngineEvent[] =>
  status === 'failed' ? [toolServerMissing(name, error ?? 'it did not start')] : [];
