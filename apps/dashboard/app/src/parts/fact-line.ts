import { t } from '@svc/chat-ui/language/t.ts';
import { fullTime } from './format.ts';

const maxDepth = 4;
/** An id that the service generated, such as `grant_1k8g7539g00az4m9mmt`. It means nothing to a reader. */
const madeId = /^[a-z]+_[0-9a-z]{15,}$/;

/**
 * A record as one line, with the names of the API: `secret_set, actor: local, after: name: GARDEN_KEY`. `what` comes first, without its name.
 * Absent and empty values, and generated ids, are left out.
 */
export function factLine({ what, ...facts }: Record<string, unknown>): string {
  return [...(typeof what === 'string' ? [what] : []), ...namedFacts(facts, 0)].join(', ');
}

const namedFacts = (facts: object, depth: number): string[] =>
  Object.entries(facts).flatMap(([name, value]) => {
    const words = valueWords(name, value, depth);
    return words === '' ? [] : [`${name}: ${words}`];
  });

function valueWords(name: string, value: unknown, depth: number): string {
  if (value === null || value === undefined || depth > maxDepth) return '';
  if (typeof value === 'string') return madeId.test(value) ? '' : value;
  if (typeof value === 'number') return name.endsWith('_at') ? fullTime(value) : String(value);
  if (typeof value === 'boolean') return value ? t('yes') : t('no');
  if (typeof value !== 'object') return String(value);
  if (!Array.isArray(value)) return namedFacts(value, depth + 1).join(', ');
  return value
    .map((part) => valueWords('', part, depth + 1))
    .filter((part) => part !== '')
    .join(' · ');
}
