import { t } from '@svc/chat-ui/language/t.ts';
import { ApiFault } from '../api.ts';

/** What the service says of single fields. */
export function fieldFaults(error: unknown): Record<string, string> {
  const fields =
    error instanceof ApiFault ? (error.body['fields'] as { field?: string; problem?: string }[] | undefined) : undefined;
  if (!Array.isArray(fields)) return {};
  return Object.fromEntries(
    fields.flatMap(({ field = '', problem = '' }) => {
      const name = /^(?:body\.)?(?:config\.)?([^.[]+)/.exec(field)?.[1];
      return name === undefined ? [] : [[name, t('It {problem}.', { problem })]];
    }),
  );
}
