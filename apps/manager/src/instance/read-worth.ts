import type { InstanceWorthFile } from '@svc/contract/instance-worth.ts';
import { isRecord } from '@svc/contract/json-value.ts';
import { readJsonFile } from '@svc/service-kit/json/read-json-file.ts';

/** What the core noted of the use of the instances; nothing before it has, or where it cannot be read: then they come as they were made. */
export function readWorth(file: string): InstanceWorthFile {
  const found = readJsonFile(file);
  if (!isRecord(found)) return {};
  return Object.fromEntries(Object.entries(found).flatMap(([id, worth]) => (isRecord(worth) ? [[id, numbersOf(worth)]] : [])));
}

const numbersOf = (worth: Record<string, unknown>) => ({
  open: numberOf(worth['open']),
  last_used_at: numberOf(worth['last_used_at']),
  persons: numberOf(worth['persons']),
});

const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0);
