import { parseJsonOrNull } from '@svc/contract/json-value.ts';
import { readIfThere } from '../files.ts';

/** What a JSON file holds; null when there is none or it is damaged. */
export function readJsonFile(file: string): unknown {
  const text = readIfThere(file);
  return text === null ? null : parseJsonOrNull(text);
}
