import { isRecord } from '@svc/contract/json-value.ts';
import type { ModelPrice, PriceTable } from '@svc/contract/cost.ts';
import { isMoney } from '@svc/service-kit/pricing/money.ts';
import { normalName } from '@svc/service-kit/pricing/name-index.ts';

/** What a file sets; it may give only a part of a model's price. */
export type PriceChanges = {
  models: Map<string, Partial<ModelPrice>>;
  tts: Map<string, number>;
  stt: Map<string, number>;
};

const maxNameLength = 200;
const maxFaultsTold = 5;
const modelFields = ['in', 'out', 'cache_read', 'cache_write', 'cache_write_1h'] as const satisfies (keyof ModelPrice)[];

/** Parses a price file. Every key is checked, so that a typing error is reported. */
export function parsePrices(text: string): PriceChanges | { fault: string } {
  const changes: PriceChanges = { models: new Map(), tts: new Map(), stt: new Map() };
  const faults: string[] = [];
  const sections: Record<keyof PriceTable, (name: string, value: unknown) => void> = {
    models: (name, value) => changes.models.set(normalName(name), readModel(`models.${name}`, value, faults)),
    tts: (name, value) => changes.tts.set(normalName(name), readMoney(`tts.${name}`, value, faults)),
    stt: (name, value) => changes.stt.set(normalName(name), readMoney(`stt.${name}`, value, faults)),
  };
  for (const [key, value] of entriesOf('the file', readJson(text, faults), faults)) {
    if (!Object.hasOwn(sections, key)) {
      faults.push(`"${show(key)}" is not one of models, tts and stt`);
      continue;
    }
    const read = sections[key as keyof PriceTable];
    for (const [name, entry] of entriesOf(key, value, faults)) {
      if (isName(name)) read(name, entry);
      else faults.push(`${key}: a name has 1 to ${maxNameLength} characters`);
    }
  }
  return faults.length === 0 ? changes : { fault: summary(faults) };
}

function readJson(text: string, faults: string[]): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    faults.push(`it is not JSON (${(error as Error).message})`);
    return {};
  }
}

function entriesOf(what: string, value: unknown, faults: string[]): [string, unknown][] {
  if (isRecord(value)) return Object.entries(value);
  faults.push(`${what} must be a JSON object`);
  return [];
}

function readModel(place: string, value: unknown, faults: string[]): Partial<ModelPrice> {
  const price: Partial<ModelPrice> = {};
  for (const [key, amount] of entriesOf(show(place), value, faults)) {
    const field = modelFields.find((known) => known === key);
    if (field === undefined) faults.push(`${show(place)}.${show(key)} is not one of ${modelFields.join(', ')}`);
    else price[field] = readMoney(`${place}.${field}`, amount, faults);
  }
  return price;
}

function readMoney(place: string, value: unknown, faults: string[]): number {
  if (isMoney(value)) return value;
  faults.push(`${show(place)} must be an amount in USD, 0 or more`);
  return 0;
}

const isName = (name: string): boolean => name.trim() !== '' && name.length <= maxNameLength;

export const summary = (faults: readonly string[]): string => {
  const more = faults.length - maxFaultsTold;
  return faults.slice(0, maxFaultsTold).join('; ') + (more > 0 ? `; and ${more} more` : '');
};

/** A key of the file, escaped and shortened for a message. */
const show = (key: string): string => JSON.stringify(key.slice(0, maxNameLength)).slice(1, -1);
