import type { Identifier } from '@svc/contract/trust.ts';
import { badRequest, conflict } from '@svc/service-kit/service-error.ts';
import { identifierProblem } from './identifier-value.ts';
import type { TrustStore } from './trust-store.ts';

type Store = Pick<TrustStore, 'addIdentifier' | 'findIdentifier' | 'findLookAlike' | 'findPrincipal'>;

/**
 * Adds an identifier to a principal; `isNew` is false when they had it already. The operator adds identifiers only by this function.
 * @throws ServiceError `bad_request` for a value that could be taken for another, `conflict` when another principal has it.
 */
export async function giveIdentifier(
  store: Store,
  { principal_id, surface, value }: Pick<Identifier, 'principal_id' | 'surface' | 'value'>,
): Promise<{ id: string; isNew: boolean }> {
  const problem = identifierProblem(surface, value);
  if (problem !== null) throw notValid(problem);
  const shown = value.slice(0, 200);
  const holder = await store.findIdentifier(surface, value);
  if (holder !== null && holder.principal_id !== principal_id) {
    const key = (await store.findPrincipal(holder.principal_id))?.key ?? holder.principal_id;
    throw conflict(`${surface} "${shown}" belongs to the person "${key}".`);
  }
  const alike = holder === null ? await store.findLookAlike(principal_id, surface, value) : null;
  if (alike !== null)
    throw notValid(`could be mistaken for "${alike.value.slice(0, 200)}", which belongs to the person "${alike.key}"`);
  const isNew = await store.addIdentifier(principal_id, surface, value);
  const found = await store.findIdentifier(surface, value);
  if (found === null) throw new Error('the identifier could not be stored');
  return { id: found.id, isNew };
}

const notValid = (problem: string) =>
  badRequest(`The request is not valid: body.value ${problem}.`, { fields: [{ field: 'body.value', problem }] });
