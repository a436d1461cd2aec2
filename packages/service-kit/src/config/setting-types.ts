import { Secret } from '../secret.ts';
import { type DataPaths, dataPaths } from './data-dir.ts';
import { isHttpUrl, isLocalUrl, parseBytes, parseCommand, resolvePath } from './parse-values.ts';
import type { Reading, SettingType } from './setting.ts';

/** The types of settings. Each parses the text of a variable; for an invalid one it reports what the setting takes. */

const trimmed = ({ raw }: Reading): string | null => raw?.trim() || null;

/** Never empty. */
export const text = (): SettingType<string> => (reading) => {
  const value = trimmed(reading);
  if (value === null) reading.problem(`is empty. Remove it for the default (${reading.default}).`);
  return value ?? '';
};

export const optionalText = (): SettingType<string | null> => trimmed;

/** Letters, digits, - and _, at most 32 of them. */
export const shortName = (): SettingType<string> => (reading) => {
  const value = text()(reading);
  if (!/^[A-Za-z][A-Za-z0-9_-]{0,31}$/.test(value)) {
    reading.problem(`is "${value}". It takes letters, digits, - and _, starts with a letter, at most 32.`);
  }
  return value;
};

export const integer =
  (min: number, max: number): SettingType<number> =>
  ({ raw = '', problem }) => {
    const value = Number(raw);
    if (!/^\d+$/.test(raw.trim()) || value < min || value > max) {
      problem(`is "${raw}". It takes a whole number from ${min} to ${max}.`);
    }
    return value;
  };

/** `least`: 0 if the system may choose one. */
export const port = (least: 0 | 1 = 1): SettingType<number> => integer(least, 65_535);

/** Written in hours, read in milliseconds. */
export const hours =
  (min: number, max: number): SettingType<number> =>
  (reading) =>
    integer(min, max)(reading) * 3_600_000;

/** Written in MB of 2^20 bytes, read in bytes. */
export const megabytes =
  (min: number, max: number): SettingType<number> =>
  (reading) =>
    integer(min, max)(reading) * 2 ** 20;

/** A size with its unit, in bytes. */
export const bytes =
  (min = 1, max = Number.MAX_SAFE_INTEGER): SettingType<number> =>
  ({ raw = '', problem }) => {
    const size = parseBytes(raw);
    if (size !== null && size >= min && size <= max) return size;
    const upTo = max < Number.MAX_SAFE_INTEGER ? ` up to ${max / 2 ** 20}mb` : '';
    problem(`is "${raw}". It takes a size such as 64mb, 8gb or a number of bytes${upTo}.`);
    return min;
  };

/** An amount above zero, because zero could mean "nothing" or "no limit". Null is no limit. */
export const usd = (): SettingType<number | null> => (reading) => {
  const value = trimmed(reading);
  if (value === null) return null;
  const amount = Number(value);
  if (/^\d+(\.\d+)?$/.test(value) && amount > 0 && amount <= 1e9) return amount;
  reading.problem(`is "${value}". It takes an amount of USD above 0, such as 20 or 0.5; remove it for no limit.`);
  return null;
};

export const oneOf =
  <const T extends string>(values: readonly T[]): SettingType<T> =>
  (reading) => {
    const value = text()(reading) as T;
    if (value !== '' && !values.includes(value)) reading.problem(`is "${value}". It takes ${values.join(', ')}.`);
    return value;
  };

export const oneOfOrNone =
  <const T extends string>(values: readonly T[]): SettingType<T | null> =>
  (reading) =>
    trimmed(reading) === null ? null : oneOf(values)(reading);

export const trueOrFalse = (): SettingType<boolean> => (reading) => oneOf(['false', 'true'])(reading) === 'true';

/** Some of the values, each once, separated by commas. */
export const listOf =
  <const T extends string>(values: readonly T[]): SettingType<readonly T[]> =>
  (reading) => {
    const entries = splitList(trimmed(reading)) as T[];
    const unknown = entries.find((entry) => !values.includes(entry));
    if (unknown !== undefined) {
      reading.problem(`has "${unknown}". It takes ${values.join(', ')}, separated by commas.`);
    }
    return [...new Set(entries)];
  };

export const hostNames = (): SettingType<readonly string[]> => (reading) =>
  splitList(trimmed(reading)).map((host) => host.toLowerCase());

/** The name of a secret and the server that may receive it: a host name over https, or a host with its port. */
export type SecretForHost = { name: string; host: string };

export const secretsForHosts = (): SettingType<readonly SecretForHost[]> => (reading) =>
  splitList(trimmed(reading)).map((one) => {
    const [, name = '', host = ''] = /^([^@\s]+)@([A-Za-z0-9.:-]+)$/.exec(one) ?? [];
    if (name === '') reading.problem(`has "${one}". It takes NAME@host or NAME@host:port, separated by commas.`);
    if (name.startsWith('SVC_')) reading.problem(`has "${name}", which is a setting of the service and is never sent elsewhere.`);
    return { name, host: host.toLowerCase() };
  });

export const url = (): SettingType<string | null> => (reading) => {
  const value = trimmed(reading);
  if (value !== null && !isHttpUrl(value)) reading.problem(`is "${value}". It takes an http or https address.`);
  return value;
};

/** A URL that must be set. */
export const requiredUrl = (): SettingType<string> => (reading) => url()(reading) ?? text()(reading);

/** An address to which paths are appended. */
export const baseUrl = (): SettingType<string | null> => (reading) => url()(reading)?.replace(/\/+$/, '') ?? null;

/** Addresses to which paths are appended; "none" for none. */
export const baseUrls = (): SettingType<readonly string[]> => (reading) => {
  const value = text()(reading);
  const urls = value === 'none' ? [] : value.split(',').map((one) => one.trim().replace(/\/+$/, ''));
  const wrong = urls.find((one) => !isHttpUrl(one));
  if (wrong !== undefined) {
    reading.problem(`has "${wrong}". It takes http or https addresses, separated by commas, or "none".`);
  }
  return [...new Set(urls)];
};

/** An address of this machine, because keys and secrets are sent there unencrypted. */
export const localUrl = (): SettingType<string | null> => (reading) => {
  const value = baseUrl()(reading);
  if (value !== null && !isLocalUrl(value)) {
    reading.problem(`is "${value}". It takes an http address of this machine, such as http://127.0.0.1:3022.`);
  }
  return value;
};

/** A program with its arguments. */
export const command = (): SettingType<readonly string[] | null> => (reading) => {
  const value = trimmed(reading);
  const words = value === null ? null : parseCommand(value);
  if (value !== null && words === null) reading.problem('takes a program and its arguments, or a JSON array of them.');
  return words;
};

/** Days by kind of event. */
export const daysByKind = (): SettingType<Readonly<Record<string, number>>> => (reading) => {
  const days = splitList(trimmed(reading)).map((entry) => /^([\w.-]{1,64})=(\d{1,5})$/.exec(entry));
  if (days.includes(null)) {
    reading.problem(`is "${reading.raw}". It takes kinds with days, such as thinking=14,tool_result=30.`);
  }
  return Object.fromEntries(days.flatMap((match) => (match === null ? [] : [[match[1], Number(match[2])]])));
};

/** A value that can be sent unchanged in a header, as one word. */
const oneWord = /^[^\s\p{Cc}\u0100-\u{10ffff}]+$/u;
const severalWords = /^[^\s\p{Cc}\u0100-\u{10ffff}]+(?: +[^\s\p{Cc}\u0100-\u{10ffff}]+)*$/u;

const secret =
  (blank: string, form: RegExp): SettingType<Secret | null> =>
  ({ raw, problem }) => {
    if (raw === undefined) return null;
    if (raw.trim() === '') problem(`is set but blank, which ${blank}. Give it a value or remove it.`);
    else if (form.test(raw)) return new Secret(raw);
    else problem('contains a space or a character that a request cannot carry. Use ASCII letters, digits and punctuation.');
    return null;
  };

/** A secret that can be sent in a header. With any other the service would run but refuse its own calls. */
export const token = (): SettingType<Secret | null> => secret('would leave the service open', oneWord);

/** A token with full access, which must be too long to guess. */
export const longToken =
  (blank: string): SettingType<Secret | null> =>
  (reading) => {
    const value = secret(blank, severalWords)(reading);
    if (value !== null && value.reveal().length < 16) reading.problem('is too short. Give it at least 16 random characters.');
    return value;
  };

/** The full path of a file or folder that has a default. */
export const absolutePath = (): SettingType<string> => (reading) => pathOf(reading, text()(reading) || '~');

/** The full path of a file or folder, or null. */
export const optionalPath = (): SettingType<string | null> => (reading) => {
  const value = trimmed(reading);
  return value === null ? null : pathOf(reading, value);
};

/** The full path of a file; if unset, the one with this name in the data folder. */
export const dataFile =
  (name: keyof DataPaths): SettingType<string> =>
  (reading) =>
    optionalPath()(reading) ?? dataPaths(reading.dataDir)[name];

/** The same; `isNeeded`: the setting names the file, so it must exist. */
export const neededDataFile =
  (name: keyof DataPaths): SettingType<Readonly<{ path: string; isNeeded: boolean }>> =>
  (reading) => ({ path: dataFile(name)(reading), isNeeded: trimmed(reading) !== null });

function pathOf({ root, problem }: Reading, file: string): string {
  // A shell would have expanded the variable. Used literally it would be a folder of that name in the clone.
  if (/^\$[\w{]/.test(file))
    problem(`is "${file}", but variables are not expanded here. Write ~ for your home folder, or a full path.`);
  const full = resolvePath(root, file);
  if (full === null) problem(`is "${file}", and this user has no home folder. Give it a full path.`);
  return full ?? root;
}

const splitList = (value: string | null): string[] =>
  (value ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean);
