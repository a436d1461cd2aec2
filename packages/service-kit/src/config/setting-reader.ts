import { isIPv4 } from 'node:net';
import { homedir } from 'node:os';
import path from 'node:path';
import { Secret } from '../secret.ts';
import { parseBytes } from './parse-bytes.ts';
import { parseCommand } from './parse-command.ts';
import type { Env } from './read-env.ts';
import { settingList, type SettingName } from './setting-list.ts';

/**
 * Reads settings by their names, each as what it should be. One that is wrong is noted in `problems`, in words for the
 * operator; what is given for it then is of the right type, and not to be used.
 */
export class SettingReader {
  readonly problems: string[] = [];
  readonly #root: string;
  readonly #env: Env;

  constructor(root: string, env: Env) {
    this.#root = root;
    this.#env = env;
  }

  text(name: SettingName): string {
    const value = this.#raw(name)?.trim() ?? '';
    if (value === '') this.problems.push(`${name} is empty. Remove it for the default (${settingList[name].default}).`);
    return value;
  }

  optional(name: SettingName): string | null {
    return this.#raw(name)?.trim() || null;
  }

  /** Small letters, digits, - and _, at most 32 of them. */
  shortName(name: SettingName): string {
    const value = this.text(name);
    if (!/^[A-Za-z][A-Za-z0-9_-]{0,31}$/.test(value)) {
      this.problems.push(`${name} is "${value}". It takes letters, digits, - and _, starts with a letter, at most 32.`);
    }
    return value;
  }

  hostNames(name: SettingName): string[] {
    const names = (this.optional(name) ?? '').split(',');
    return names.map((host) => host.trim().toLowerCase()).filter(Boolean);
  }

  url(name: SettingName): string | null {
    const value = this.optional(name);
    if (value !== null && !isHttpUrl(value)) this.problems.push(`${name} is "${value}". It takes an http or https address.`);
    return value;
  }

  /** An address that paths are put behind. */
  baseUrl(name: SettingName): string | null {
    return this.url(name)?.replace(/\/+$/, '') ?? null;
  }

  /** Addresses that paths are put behind; "none" for none. */
  urls(name: SettingName): string[] {
    const value = this.text(name);
    const urls = value === 'none' ? [] : value.split(',').map((url) => url.trim().replace(/\/+$/, ''));
    const wrong = urls.find((url) => !isHttpUrl(url));
    if (wrong !== undefined) {
      this.problems.push(`${name} has "${wrong}". It takes http or https addresses, separated by commas, or "none".`);
    }
    return [...new Set(urls)];
  }

  /** An address of this machine: what goes there are keys and secrets, in the clear. */
  localUrl(name: SettingName): string | null {
    const value = this.baseUrl(name);
    if (value !== null && !isLocalUrl(value)) {
      this.problems.push(`${name} is "${value}". It takes an http address of this machine, such as http://127.0.0.1:3022.`);
    }
    return value;
  }

  command(name: SettingName): readonly string[] | null {
    const value = this.optional(name);
    const words = value === null ? null : parseCommand(value);
    if (value !== null && words === null) {
      this.problems.push(`${name} takes a program and its arguments, or a JSON array of them.`);
    }
    return words;
  }

  integer(name: SettingName, min: number, max: number): number {
    const value = this.#raw(name) ?? '';
    const number = Number(value);
    if (!/^\d+$/.test(value.trim()) || number < min || number > max) {
      this.problems.push(`${name} is "${value}". It takes a whole number from ${min} to ${max}.`);
    }
    return number;
  }

  bytes(name: SettingName, min: number, max = Number.MAX_SAFE_INTEGER): number {
    const value = this.#raw(name) ?? '';
    const size = parseBytes(value);
    if (size !== null && size >= min && size <= max) return size;
    const upTo = max < Number.MAX_SAFE_INTEGER ? ` up to ${max / 2 ** 20}mb` : '';
    this.problems.push(`${name} is "${value}". It takes a size such as 64mb, 8gb or a number of bytes${upTo}.`);
    return min;
  }

  /** An amount above zero: zero would be read as "none" by one and as "no limit" by another. */
  usd(name: SettingName): number | null {
    const value = this.optional(name);
    if (value === null) return null;
    const amount = Number(value);
    if (/^\d+(\.\d+)?$/.test(value) && amount > 0 && amount <= 1e9) return amount;
    this.problems.push(`${name} is "${value}". It takes an amount of USD above 0, such as 20 or 0.5; remove it for no limit.`);
    return null;
  }

  oneOf<T extends string>(name: SettingName, values: readonly T[]): T {
    const value = this.text(name) as T;
    if (value !== '' && !values.includes(value)) {
      this.problems.push(`${name} is "${value}". It takes ${values.join(', ')}.`);
    }
    return value;
  }

  oneOfOrNone<const T extends string>(name: SettingName, values: readonly T[]): T | null {
    return this.optional(name) === null ? null : this.oneOf(name, values);
  }

  list(name: SettingName, values: readonly string[]): string[] {
    const entries = (this.optional(name) ?? '').split(',').map((entry) => entry.trim());
    const unknown = entries.find((entry) => entry !== '' && !values.includes(entry));
    if (unknown !== undefined) {
      this.problems.push(`${name} has "${unknown}". It takes ${values.join(', ')}, separated by commas.`);
    }
    return [...new Set(entries)].filter(Boolean);
  }

  daysByKind(name: SettingName): Record<string, number> {
    const value = this.#raw(name);
    const entries = (value ?? '').split(',').map((entry) => entry.trim());
    const days = entries.filter(Boolean).map((entry) => /^([\w.-]{1,64})=(\d{1,5})$/.exec(entry));
    if (days.includes(null)) {
      this.problems.push(`${name} is "${value}". It takes kinds with days, such as thinking=14,tool_result=30.`);
    }
    return Object.fromEntries(days.flatMap((match) => (match === null ? [] : [[match[1], Number(match[2])]])));
  }

  /** `blank` says what a blank one would do. */
  token(name: SettingName, blank = 'would leave the service open'): Secret | null {
    const value = this.#env[name];
    if (value === undefined) return null;
    if (value.trim() === '') {
      this.problems.push(`${name} is set but blank, which ${blank}. Give it a value or remove it.`);
      return null;
    }
    return new Secret(value);
  }

  /** It opens everything to whoever has it, so it must not be one that can be guessed. */
  longToken(name: SettingName, blank: string): Secret | null {
    const value = this.token(name, blank);
    if (value !== null && value.reveal().length < 16) {
      this.problems.push(`${name} is too short. Give it at least 16 random characters.`);
    }
    return value;
  }

  file(name: SettingName, fallback: string): string {
    return this.absolute(name, this.optional(name) ?? fallback);
  }

  optionalFile(name: SettingName): string | null {
    return this.optional(name) === null ? null : this.file(name, '');
  }

  /** Relative ones lie in the root, so that every process and every shell means the same place. */
  absolute(name: SettingName, file: string): string {
    try {
      return path.resolve(this.#root, expandHome(file));
    } catch {
      this.problems.push(`${name} is "${file}", and this user has no home folder. Give it a full path.`);
      return this.#root;
    }
  }

  #raw(name: SettingName): string | undefined {
    return this.#env[name] ?? settingList[name].default;
  }
}

const isHttpUrl = (value: string) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);

function isLocalUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, hostname, username, pathname, search } = new URL(value);
  const isHere = hostname === 'localhost' || hostname === '[::1]' || (isIPv4(hostname) && hostname.startsWith('127.'));
  return protocol === 'http:' && isHere && username === '' && pathname === '/' && search === '';
}

const expandHome = (file: string) => (file === '~' || file.startsWith('~/') ? path.join(home(), file.slice(1)) : file);

/** Throws for a user whom the system does not know and whose `HOME` is not set. */
function home(): string {
  const folder = homedir();
  if (!path.isAbsolute(folder)) throw new Error('HOME is not a folder');
  return folder;
}
