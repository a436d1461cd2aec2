import { t } from '@svc/chat-ui/language/t.ts';
import { ApiFault } from '../api.ts';

type Faults = {
  /** By field. */
  fields: Record<string, string>;
  /** What belongs to no field; null when nothing is left. */
  rest: string | null;
};

/** The errors of the service, by field and for the whole form. `shown`: the names of the fields that the form has. */
export function readFaults(error: unknown, shown: readonly string[]): Faults {
  const said =
    error instanceof ApiFault ? (error.body['fields'] as { field?: string; problem?: string }[] | undefined) : undefined;
  const faults = (Array.isArray(said) ? said : []).map(({ field = '', problem = '' }) => ({
    name: /^(?:body\.)?(?:config\.)?([^.[]+)/.exec(field)?.[1] ?? '',
    words: t('It {problem}.', { problem }),
  }));
  const placed = faults.filter(({ name }) => shown.includes(name));
  const isAllPlaced = faults.length > 0 && placed.length === faults.length;
  return {
    fields: Object.fromEntries(placed.map(({ name, words }) => [name, words])),
    rest: isAllPlaced ? null : error instanceof Error ? error.message : String(error),
  };
}
