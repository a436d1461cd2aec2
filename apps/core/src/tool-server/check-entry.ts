import type { ToolServerEntry } from '@svc/contract/tool-server.ts';
import { isMasked } from './mask-entry.ts';
import { referenceProblem } from './secret-references.ts';

/** One problem of an entry, by field. */
export type Problem = { field: string; problem: string };
export type CheckedEntry = { entry: ToolServerEntry; problems: [] } | { entry: null; problems: Problem[] };

export type EntryFields = Record<
  'type' | 'command' | 'args' | 'env' | 'url' | 'headers' | 'safe' | 'enabled' | 'description',
  unknown
>;

const most = { args: 100, values: 100, text: 32_768, url: 2048, description: 500 };
const envName = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const headerName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;

/** What is wrong with a name, or null. Engines separate the names of server and tool with two underscores. */
export function nameProblem(name: unknown): string | null {
  if (typeof name !== 'string' || !/^[a-z0-9_-]{1,64}$/.test(name)) return 'must be 1 to 64 of a-z, 0-9, "_" and "-"';
  return name.includes('__') ? 'must not have two underscores in a row' : null;
}

/** Checks a whole entry from outside: it is valid, or every problem is reported. */
export function checkEntry(fields: Partial<EntryFields>): CheckedEntry {
  const problems: Problem[] = [];
  const report = (field: string, problem: string | null) => {
    if (problem !== null) problems.push({ field, problem });
  };
  const { type, command, args = [], env = {}, url, headers, safe = false, enabled = true, description } = fields;
  report('safe', typeof safe === 'boolean' ? null : 'must be true or false');
  report('enabled', typeof enabled === 'boolean' ? null : 'must be true or false');
  if (description !== undefined) report('description', textProblem(description, most.description));
  if ((command === undefined) === (url === undefined)) {
    const problem =
      command === undefined
        ? { field: 'command', problem: '(a program on this machine) is missing, and so is url (a remote server): one is needed' }
        : { field: 'url', problem: 'is given together with a command: a server has one or the other' };
    return { entry: null, problems: [...problems, problem] };
  }
  report('type', typeProblem(type, command === undefined ? 'http' : 'stdio'));
  const common = {
    enabled: enabled === true,
    safe: safe === true,
    ...(typeof description === 'string' && description !== '' && { description }),
  };
  if (command !== undefined) {
    if (headers !== undefined) report('headers', 'belong to a url');
    report('command', commandProblem(command));
    for (const problem of listProblems(args)) problems.push(problem);
    for (const problem of valueProblems('env', env, envName)) problems.push(problem);
    if (problems.length > 0) return { entry: null, problems };
    // The casts are safe: the fields were checked above.
    const checked = { command: command as string, args: args as string[], env: env as Record<string, string> };
    return { entry: { type: 'stdio', ...checked, ...common }, problems: [] };
  }
  if (fields.args !== undefined) report('args', 'belong to a command');
  if (fields.env !== undefined) report('env', 'belongs to a command; a url takes headers');
  report('url', urlProblem(url));
  for (const problem of valueProblems('headers', headers ?? {}, headerName)) problems.push(problem);
  if (problems.length > 0) return { entry: null, problems };
  const named = headers === undefined ? {} : { headers: headers as Record<string, string> };
  return { entry: { type: 'http', url: url as string, ...named, ...common }, problems: [] };
}

/** The type is optional: a command or a url implies it. */
const typeProblem = (type: unknown, meant: 'stdio' | 'http'): string | null =>
  type === undefined || type === meant ? null : 'must be stdio with a command or http with a url; it can be left out';

/** A relative path would be resolved in the folder of each turn. */
function commandProblem(command: unknown): string | null {
  const problem = textProblem(command, most.text);
  if (problem !== null || typeof command !== 'string') return problem;
  if (command.trim() === '') return 'is blank';
  if (command.includes('/') && !command.startsWith('/')) return 'must be the name of a program or an absolute path';
  return /^\S+\s/.test(command) && !command.startsWith('/')
    ? 'must be the program alone; the rest goes into args'
    : onlyInValues(command);
}

function urlProblem(url: unknown): string | null {
  const problem = textProblem(url, most.url);
  if (problem !== null || typeof url !== 'string') return problem;
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return 'must be an address that begins with http:// or https://';
  const { username, password } = new URL(url);
  return username + password === '' ? onlyInValues(url) : 'must not hold a user name or password; use headers';
}

function listProblems(args: unknown): Problem[] {
  if (!Array.isArray(args)) return [{ field: 'args', problem: 'must be a list of strings' }];
  if (args.length > most.args) return [{ field: 'args', problem: `must not be more than ${most.args}` }];
  return args.flatMap((arg: unknown, at) => {
    const problem = textProblem(arg, most.text) ?? onlyInValues(String(arg));
    return problem === null ? [] : [{ field: `args.${at}`, problem }];
  });
}

function valueProblems(place: 'env' | 'headers', values: unknown, name: RegExp): Problem[] {
  if (typeof values !== 'object' || values === null || Array.isArray(values)) {
    return [{ field: place, problem: 'must be an object of names and strings' }];
  }
  const entries: [string, unknown][] = Object.entries(values);
  if (entries.length > most.values) return [{ field: place, problem: `must not be more than ${most.values}` }];
  return entries.flatMap(([key, value]) => {
    const problem = name.test(key) ? valueProblem(place, value) : 'has a name that cannot be one';
    return problem === null ? [] : [{ field: `${place}.${key.slice(0, 128)}`, problem }];
  });
}

function valueProblem(place: 'env' | 'headers', value: unknown): string | null {
  const problem = textProblem(value, most.text);
  if (problem !== null || typeof value !== 'string') return problem;
  if (place === 'headers' && /[^\t\u{20}-\u{7E}]/u.test(value)) return 'must be plain ASCII text on one line';
  return referenceProblem(value);
}

function textProblem(text: unknown, longest: number): string | null {
  if (typeof text !== 'string') return 'must be a string';
  if (text.length > longest) return `must not be longer than ${longest} characters`;
  if (text.includes('\0')) return 'must not hold a zero byte';
  return isMasked(text) ? 'contains a mask in place of the value; send the value itself, or leave the server as it is' : null;
}

/** Arguments appear in the process list, addresses in logs. */
const onlyInValues = (text: string): string | null =>
  text.includes('${secret:') ? 'cannot take a secret; env and headers can' : null;
