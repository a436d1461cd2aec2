import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { isRecord } from '@svc/contract/json-value.ts';
import type { ToolServerEntry } from '@svc/contract/tool-server.ts';
import { badRequest, errorText } from '@svc/service-kit/service-error.ts';
import { checkEntry, nameProblem } from './check-entry.ts';

/** A server from another program's file in our form, or why it cannot be imported. */
export type Candidate =
  | { name: string; as: string; entry: ToolServerEntry; warnings: string[] }
  | { name: string; reason: string };

const maxFileBytes = 1024 * 1024;
const mostServers = 100;

/** Reads a file of tool servers. @throws ServiceError that names the file and never quotes it. */
export function readDocument(file: string): unknown {
  if (!path.isAbsolute(file)) throw badRequest('"path" must be an absolute path.');
  try {
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat === undefined) throw new Error('there is no such file');
    if (!stat.isFile()) throw new Error('it is not a file');
    if (stat.size > maxFileBytes) throw new Error('it is larger than 1 MiB');
    return parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw badRequest(`${file} cannot be imported: ${errorText(error)}.`);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('it is not JSON (comments and trailing commas are not understood)');
  }
}

/** Every server of an `mcpServers` document (Claude, Cursor, Gemini, Windsurf), of one with `servers` (VS Code), or of our own. */
export function toCandidates(document: unknown): Candidate[] {
  const servers = isRecord(document) ? (document.mcpServers ?? document.servers) : undefined;
  if (!isRecord(servers)) throw badRequest('There are no tool servers in it: "mcpServers" is missing.');
  const entries = Object.entries(servers);
  if (entries.length > mostServers) throw badRequest(`There are more than ${mostServers} tool servers in it.`);
  const taken = new Set<string>();
  return entries.map(([name, fields]) => {
    const candidate = toCandidate(name, fields);
    if ('reason' in candidate) return candidate;
    if (taken.has(candidate.as)) return { name, reason: `its name would be "${candidate.as}", like that of another one` };
    taken.add(candidate.as);
    return candidate;
  });
}

function toCandidate(name: string, fields: unknown): Candidate {
  const as = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '-')
    .replaceAll(/_{2,}/g, '_')
    .slice(0, 64);
  if (nameProblem(as) !== null) return { name, reason: 'its name has no characters that can be kept' };
  if (!isRecord(fields)) return { name, reason: 'it is not an object' };
  const url = fields.httpUrl ?? fields.url ?? fields.serverUrl;
  const refusal = refusalOf(fields, url);
  if (refusal !== null) return { name, reason: refusal };
  const { entry, problems } = checkEntry({
    command: fields.command,
    ...(url === undefined
      ? { args: fields.args, env: withReferences(fields.env) }
      : { url, headers: withReferences(fields.headers) }),
    enabled: fields.disabled !== true && fields.enabled !== false,
    safe: fields.safe,
    description: typeof fields.description === 'string' ? fields.description.slice(0, 500) : undefined,
  });
  if (entry === null) return { name, reason: problems.map(({ field, problem }) => `${field} ${problem}`).join('; ') };
  return { name, as, entry, warnings: warningsOf(fields) };
}

/** Why a server cannot be imported: it would not work here, or would mean something else. */
function refusalOf(fields: Record<string, unknown>, url: unknown): string | null {
  if (fields.type === 'sse' || fields.transport === 'sse' || fields.type === 'ws' || fields.type === 'sdk') {
    return 'only stdio and streamable HTTP servers can be used';
  }
  if (fields.cwd !== undefined) return 'it needs a working folder of its own ("cwd"), which cannot be given to it';
  if (fields.oauth !== undefined || fields.authProviderType !== undefined) return 'it needs a login, which cannot be done here';
  const parts = [fields.command, url, ...(Array.isArray(fields.args) ? fields.args : [])];
  if (parts.some((part) => typeof part === 'string' && variable.test(part))) {
    return 'it has a variable in its command, arguments or address; write the value there, or put it into env or headers';
  }
  const values = [fields.env, fields.headers].filter(isRecord).flatMap((object) => Object.values(object));
  const isAsked = values.some((value) => typeof value === 'string' && /\$\{input:|\$\{[^}]*:-/.test(value));
  return isAsked ? 'it has a variable with a default or one that asks a person' : null;
}

const variable = /\$\{[^}]*\}|^\$\w+$/;

/** Other programs read `${NAME}`, `${env:NAME}` and `$NAME` from the environment; here they become references to secrets. */
function withReferences(values: unknown): unknown {
  if (!isRecord(values)) return values;
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [
      key,
      typeof value === 'string' ? value.replace(/^\$(\w+)$/, '${$1}').replaceAll(/\$\{(?:env:)?(\w+)\}/g, '${secret:$1}') : value,
    ]),
  );
}

const known = new Set(
  'type transport command args env url httpUrl serverUrl headers disabled enabled safe description'.split(' '),
);

function warningsOf(fields: Record<string, unknown>): string[] {
  const dropped = Object.keys(fields).filter((key) => !known.has(key));
  const narrowing = dropped.filter((key) => /tools$/i.test(key));
  return [
    ...(dropped.length > 0 ? [`not imported: ${dropped.slice(0, 20).join(', ')}`] : []),
    ...(narrowing.length > 0 ? ['all its tools are offered, not only those that were chosen there'] : []),
  ];
}
