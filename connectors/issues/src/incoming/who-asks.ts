import type { CoreApi, Identity, Sender } from '@svc/connector-kit';
import { meta } from '../meta.ts';
import { repoName } from '../outgoing/issue-place.ts';
import type { GitHubPost } from './github-post.ts';

/** What GitHub says of people that a repository knows; `:` keeps it apart from logins, which have none. */
const known: Readonly<Record<string, string>> = { OWNER: 'owner', MEMBER: 'member', COLLABORATOR: 'collaborator' };

export type Asker = { sender: Sender; identity: Identity };

/**
 * The identity of an author: the login or, if it belongs to no person, the author's association with the repository, if the
 * operator has linked one: `member:owner/repo`, then `member:*`.
 */
export async function whoAsks(
  core: Pick<CoreApi, 'resolve'>,
  { place, by, association }: GitHubPost,
  room: { conversation_key: string; public: boolean },
): Promise<Asker | null> {
  if (by === null) return null;
  const shown = { raw_username: by.login, ...(by.isBot && { is_bot: true }) };
  const asAsker = async (raw_id: string): Promise<Asker> => {
    const sender = { raw_id, ...shown };
    return { sender, identity: await core.resolve({ channel: meta.type, sender, ...room }) };
  };
  const own = await asAsker(by.login);
  const role = known[association];
  if (own.identity.denial !== 'unknown_sender' || role === undefined) return own;
  for (const group of [`${role}:${repoName(place)}`, `${role}:*`]) {
    const found = await asAsker(group);
    if (!found.identity.denied) return found;
  }
  return own;
}
