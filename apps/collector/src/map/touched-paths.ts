import { homedir } from 'node:os';
import path from 'node:path';
import { isRecord, parseJsonOrNull } from '@svc/contract/json-value.ts';
import { toolbeltName } from '@svc/contract/tool-server.ts';
import type { StoredEvent } from '../ingest/parse-event.ts';

/** What one tool call touched: absolute paths, and its working folder if known. */
export type Touched = { paths: string[]; cwd: string | null };

/** The names that tools of the engines use for the files and folders they work on. */
const pathFields = [
  'file_path',
  'filePath',
  'absolute_path',
  'notebook_path',
  'dir_path',
  'path',
  'paths',
  'file_paths',
] as const;
const pathInText = new RegExp(`"(?:${pathFields.join('|')})"\\s*:\\s*("(?:[^"\\\\]|\\\\.)*")`);
const changeFolder = /^\s*cd\s+(?:"([^"]+)"|'([^']+)'|([^\s;&|]+))/;

const maxPaths = 20;
const maxLength = 1024;
const nothing: Touched = { paths: [], cwd: null };

/** The paths in a `tool` event; none for other events and for tools that only ask about paths. */
export function touchedPaths({ kind, text, payload }: StoredEvent): Touched {
  if (kind !== 'tool' || asksOnly(text ?? '')) return nothing;
  const { input } = payload;
  const fields = isRecord(input) ? input : {};
  const cwd = absolute(fields['cwd'], null) ?? absolute(payload['cwd'], null);
  const named = typeof input === 'string' ? namedInText(input) : pathFields.flatMap((field) => textsOf(fields[field]));
  const found = named.length === 0 ? commandFolder(fields['command'], cwd) : named;
  const paths = found.slice(0, maxPaths).flatMap((name) => absolute(name, cwd) ?? []);
  return { paths: [...new Set(paths)], cwd };
}

/** Our own tools only ask about paths. Some engines spell the name of their server with underscores. */
const asksOnly = (tool: string): boolean => tool.replaceAll('_', '-').includes(toolbeltName);

/** Of a long input, only the beginning of its JSON is sent. */
function namedInText(text: string): string[] {
  const quoted = pathInText.exec(text)?.[1];
  return quoted === undefined ? [] : textsOf(parseJsonOrNull(quoted));
}

/** It is unknown what a command touches, but its folder is known. */
function commandFolder(command: unknown, cwd: string | null): string[] {
  if (typeof command !== 'string' && !Array.isArray(command)) return [];
  const [, ...names] = changeFolder.exec(String(command)) ?? [];
  const folder = names.find((name) => name !== undefined) ?? cwd;
  return folder === null ? [] : [folder];
}

const textsOf = (value: unknown): string[] =>
  typeof value === 'string' ? [value] : Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

/** The normalized absolute path; null if it is not a path, or is relative to an unknown folder. */
export function absolute(name: unknown, cwd: string | null): string | null {
  if (typeof name !== 'string' || name === '' || name.length > maxLength || name.includes('\0')) return null;
  const full = name === '~' || name.startsWith('~/') ? path.join(homedir(), name.slice(1)) : name;
  if (!path.isAbsolute(full) && cwd === null) return null;
  return path.resolve(cwd ?? '/', full);
}
