import { hash } from 'node:crypto';

/** The person of the channel that a client speaks for. */
export type ClientUser = { userId: string; username: string };

/** A client as far as its user goes; `identity` is what the operator wrote into the clients file. */
export type KnownClient = { client_id: string; client_name: string; identity?: ClientUser };

/** Part of the key of a conversation, where colons part the others. */
export const userIdPattern = /^[\w.@-]{1,128}$/;

/**
 * Whom a client speaks for: the user of its entry, or for one that registered itself a user of its own, whom nobody knows until the operator
 * links them to a person. Its name is its own choice and decides nothing.
 */
export function userOf({ client_id: id, client_name: name, identity }: KnownClient): ClientUser {
  return identity ?? { userId: `client-${hash('sha256', id, 'hex').slice(0, 32)}`, username: name };
}
