import type { Tier } from './trust.ts';

/** What a working folder can be set for. The first scope that has one applies. */
export const folderScopes = ['conversation', 'instance', 'channel', 'tier'] as const;
export type FolderScope = (typeof folderScopes)[number];

/** The least tool policy of turns that work in the folder. Only the folder of a conversation may be for `read`. */
export const folderPolicies = ['full', 'read'] as const;
export type FolderPolicy = (typeof folderPolicies)[number];

/** Tiers that can have a folder: the others never get a turn. */
export const folderTiers = ['GUEST', 'KNOWN', 'TRUSTED', 'SACRED'] as const satisfies readonly Tier[];

/** A folder that the operator set. `name`: a conversation key, the id of an instance, a channel or a tier. Times are epoch ms. */
export type WorkingFolder = { scope: FolderScope; name: string; path: string; for: FolderPolicy; updated_at: number };

/** `fault`: why no turn can work in it at present; null when all is well. */
export type ListedFolder = WorkingFolder & { fault: string | null };

/** A folder, by its real path, whose own tool servers, hooks and settings may run. */
export type TrustedFolder = { path: string; trusted_at: number };

/** Answer of `GET /v2/folders`. */
export type FolderList = { folders: ListedFolder[]; trusted: TrustedFolder[] };
