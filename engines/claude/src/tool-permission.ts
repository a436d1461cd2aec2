import { realpathSync } from 'node:fs';
import path from 'node:path';
import type { EngineRequest } from '@svc/engine-kit/engine.ts';
import { allowedToolServers } from '@svc/engine-kit/turn-text.ts';
import type { Permission } from './claude-messages.ts';

/** The SDK's own tools that a turn is offered; `null` is all of them. */
export const ownTools: Record<EngineRequest['toolPolicy'], readonly string[] | null> = {
  none: [],
  read: ['Read', 'Glob', 'Grep'],
  full: null,
};

/** Tools that need a person at the terminal, or go on after the turn is over. */
export const unusableTools = [
  'AskUserQuestion',
  'EnterPlanMode',
  'ExitPlanMode',
  'EnterWorktree',
  'ExitWorktree',
  'CronCreate',
  'CronDelete',
  'CronList',
  'ScheduleWakeup',
  'RemoteTrigger',
  'Monitor',
  'PushNotification',
  'Workflow',
];

type Asked = Pick<EngineRequest, 'toolPolicy' | 'toolServers' | 'attachments' | 'cwd'>;

/** Decides a tool call that the SDK asks about. What the policy does not name is refused. */
export function decideTool(request: Asked, tool: string, input: Record<string, unknown>): Permission {
  return isAllowed(request, tool, input)
    ? { behavior: 'allow', updatedInput: input }
    : { behavior: 'deny', message: 'This is not allowed for the person who wrote the message.' };
}

function isAllowed(request: Asked, tool: string, input: Record<string, unknown>): boolean {
  if (request.toolPolicy === 'full') return true;
  if (tool.startsWith('mcp__')) return allowedToolServers(request).some(({ name }) => tool.startsWith(`mcp__${name}__`));
  if (!ownTools[request.toolPolicy]?.includes(tool)) return false;
  const target = input.file_path ?? input.path ?? request.cwd;
  return typeof target === 'string' && isReadable(request, target);
}

/** Reading goes as far as the conversation's own folder and the files that came with the message. */
function isReadable({ cwd, attachments }: Asked, target: string): boolean {
  const file = realPath(path.resolve(cwd, target));
  if (file === null) return false;
  const inside = path.relative(realPath(cwd) ?? cwd, file);
  if (inside === '' || !(inside === '..' || inside.startsWith(`..${path.sep}`) || path.isAbsolute(inside))) return true;
  return attachments.some((attachment) => realPath(attachment.path) === file);
}

/** Links are followed first: a link in the folder must not lead out of it. */
function realPath(file: string): string | null {
  try {
    return realpathSync(file);
  } catch {
    return null;
  }
}
