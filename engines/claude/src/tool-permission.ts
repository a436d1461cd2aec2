import { isReadablePattern, readablePath, type ReadScope } from '@svc/engine-kit/path-policy.ts';
import type { EngineRequest } from '@svc/engine-kit/engine.ts';
import { allowedToolServers } from '@svc/engine-kit/tool-servers.ts';
import type { Permission } from './claude-messages.ts';

type Input = Record<string, unknown>;

/** A field with a path, one with a pattern, or one that names no files. */
type Field = 'path' | 'pattern' | 'free';

/** All fields of the reading tools. A tool or field of a new version is refused until it is listed here. */
const readingTools: Record<string, Record<string, Field>> = {
  Read: { file_path: 'path', offset: 'free', limit: 'free', pages: 'free', allow_large: 'free' },
  Glob: { path: 'path', pattern: 'pattern' },
  Grep: {
    path: 'path',
    glob: 'pattern',
    pattern: 'free',
    output_mode: 'free',
    '-A': 'free',
    '-B': 'free',
    '-C': 'free',
    context: 'free',
    '-n': 'free',
    '-i': 'free',
    '-o': 'free',
    type: 'free',
    head_limit: 'free',
    offset: 'free',
    multiline: 'free',
  },
};

/** The names of the tools for reading. */
export const readingToolNames: readonly string[] = Object.keys(readingTools);

/** The SDK's own tools that are offered to a turn; `null` means all. */
export const ownTools: Record<EngineRequest['toolPolicy'], readonly string[] | null> = {
  none: [],
  read: readingToolNames,
  full: null,
};

/** Tools that need a person at the terminal, or continue after the turn. */
export const unusableTools = [
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

type Asked = Pick<EngineRequest, 'toolPolicy' | 'toolServers'> & ReadScope;

/** Decides a tool call about which the SDK asks. Whatever the policy does not name is refused. */
export function decideTool(request: Asked, tool: string, input: Input): Permission {
  const updatedInput = allowedInput(request, tool, input);
  return updatedInput === null
    ? { behavior: 'deny', message: 'This is not allowed for the person who wrote the message.' }
    : { behavior: 'allow', updatedInput };
}

function allowedInput(request: Asked, tool: string, input: Input): Input | null {
  if (request.toolPolicy === 'full') return input;
  if (tool.startsWith('mcp__')) {
    return allowedToolServers(request).some(({ name }) => tool.startsWith(`mcp__${name}__`)) ? input : null;
  }
  const fields = Object.hasOwn(readingTools, tool) ? readingTools[tool] : undefined;
  return fields === undefined || request.toolPolicy === 'none' ? null : readingInput(request, fields, input);
}

/** The input of a reading tool with its real path, so that it cannot mean another file; null when the path is not allowed. */
function readingInput(scope: ReadScope, fields: Record<string, Field>, input: Input): Input | null {
  const names = Object.keys(input);
  const [pathName = ''] = Object.keys(fields).filter((name) => fields[name] === 'path');
  const place = readablePath(scope, input[pathName] ?? scope.cwd);
  if (place === null || names.some((name) => !Object.hasOwn(fields, name))) return null;
  const patterns = names.filter((name) => fields[name] === 'pattern').map((name) => input[name]);
  if (!patterns.every((pattern) => isReadablePattern(scope, pattern, place))) return null;
  return { ...input, [pathName]: place };
}
