import { parseJsonOrNull } from '@svc/contract/json-value.ts';
import { readIfThere } from '../files.ts';

/** The value in a JSON file; null if the file is missing or invalid. */
export function readJsonFile(file: string): unknown {
  const text = readIfThere(file);
  return text === null ? null : parseJsonOrNull(text);
}
