import type { Grant, Identifier, Principal } from '@svc/contract/trust.ts';
import { CliError } from '../cli-error.ts';
import type { Place } from './trust-api.ts';

/** The identifier that the arguments name. @throws CliError when there is none */
export function findIdentifier({ key, identifiers }: Principal, surface: string, value: string): Identifier {
  const on = identifiers.filter((identifier) => identifier.surface === surface);
  const found =
    on.find((identifier) => identifier.value === value) ?? on.find((identifier) => identifier.value === value.toLowerCase());
  if (found !== undefined) return found;
  const has = identifiers.map((identifier) => `${identifier.surface} ${identifier.value}`).join(', ');
  const why = has === '' ? `"${key}" has no names on any channel.` : `"${key}" is known as: ${has}`;
  throw new CliError(`"${key}" is not known as ${surface} ${value}.`, { why, run: './svc person list' });
}

/** The grant that the arguments name. @throws CliError when there is none, or more than one */
export function findGrant({ key, grants }: Principal, role: string, { surface, conversation }: Place): Grant {
  const ofRole = grants.filter((grant) => grant.role === role || grant.role_id === role);
  const found = ofRole.filter(
    ({ scope }) =>
      (surface === undefined || scope.surface === surface) &&
      (conversation === undefined || scope.conversation_key === conversation),
  );
  const [grant, ...more] = found;
  if (grant === undefined) {
    const has = grants.map((given) => given.role).join(', ');
    throw new CliError(`"${key}" does not have the role ${role}${surface === undefined ? '' : ` on ${surface}`}.`, {
      why: has === '' ? `"${key}" has no roles.` : `"${key}" has: ${has}`,
      run: './svc person list',
    });
  }
  if (more.length === 0) return grant;
  throw new CliError(`"${key}" has the role ${role} more than once.`, {
    why: found
      .map(({ id, scope }) => `${id}  ${scope.surface ?? 'everywhere'} ${scope.conversation_key ?? ''}`.trimEnd())
      .join('\n'),
    run: `./svc person revoke ${grant.id}`,
  });
}
