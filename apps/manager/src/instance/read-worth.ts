import type { InstanceWorthFile } from '@svc/contract/instance-worth.ts';
import { isRecord } from '@svc/contract/json-value.ts';
import { readJsonFile } from '@svc/service-kit/json/read-json-file.ts';

/** How much the instances are used, as noted by the core. Empty if the file is missing or unreadable; then instances start in the order of their creation. */
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
