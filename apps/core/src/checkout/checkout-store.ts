import { existsSync, renameSync } from 'node:fs';
import { readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { isRecord, parseJsonOrNull } from '@svc/contract/json-value.ts';
import { makePrivateDir, writeFileAtomic, ifThere } from '@svc/service-kit/files.ts';

/** The stored data of a checkout. `worked`: an engine may have changed its files. */
export type StoredCheckout = {
  id: string;
  url: string;
  ref: string | null;
  credential: string | null;
  instance_id: string | null;
  conversation_key: string | null;
  mirror: string;
  sha: string;
  bytes: number;
  fetched_at: number;
  used_at: number;
  worked: boolean;
};

/**
 * Checkouts on the disk: a folder each, with the files and a note that describes them. The note is written last, so a checkout that a kill
 * left incomplete has none and is removed at the next start.
 */
export type CheckoutStore = {
  all(): StoredCheckout[];
  find(id: string): StoredCheckout | undefined;
  treeOf(id: string): string;
  /** Where the files of a checkout are prepared. */
  draftOf(name: string): string;
  /** Atomically replaces the files of a checkout with those in the draft. */
  take(draft: string, checkout: StoredCheckout): void;
  keep(checkout: StoredCheckout): void;
  /** Records that it was used now; without the record it is swept sooner. */
  touch(checkout: StoredCheckout, now: number): Promise<void>;
  remove(id: string): Promise<void>;
  /** Removes a draft that nobody uses. */
  dropDraft(draft: string): Promise<void>;
};

const noteName = 'checkout.json';
const idForm = /^co_[0-9a-z]{16,32}$/;

/** Opens the existing checkouts, and removes incomplete ones. */
export async function openCheckoutStore(root: string): Promise<CheckoutStore> {
  const [trees, drafts] = [path.join(root, 'trees'), path.join(root, 'drafts')];
  const folderOf = (id: string) => path.join(trees, id);
  const noteOf = (id: string) => path.join(folderOf(id), noteName);
  const treeOf = (id: string) => path.join(folderOf(id), 'tree');
  const dropDraft = (draft: string) => rm(draft, { recursive: true, force: true });
  const found = new Map<string, StoredCheckout>();
  await dropDraft(drafts);
  for (const id of await ifThere(readdir(trees), [])) {
    const checkout = await readNote(id, noteOf(id), root);
    if (checkout === null || !existsSync(treeOf(id))) await rm(folderOf(id), { recursive: true, force: true });
    else found.set(id, checkout);
  }
  const keep = (checkout: StoredCheckout) => {
    writeFileAtomic(noteOf(checkout.id), JSON.stringify({ ...checkout, root }));
    found.set(checkout.id, checkout);
  };
  return {
    all: () => [...found.values()],
    find: (id) => found.get(id),
    treeOf,
    draftOf(name) {
      makePrivateDir(drafts);
      return path.join(drafts, name);
    },
    take(draft, checkout) {
      makePrivateDir(folderOf(checkout.id));
      if (existsSync(treeOf(checkout.id))) renameSync(treeOf(checkout.id), `${draft}.old`);
      renameSync(draft, treeOf(checkout.id));
      keep(checkout);
      // Nobody uses the old files any more; what cannot be removed now goes with all drafts at the next start.
      dropDraft(`${draft}.old`).catch(() => undefined);
    },
    keep,
    async touch(checkout, now) {
      checkout.used_at = now;
      await ifThere(utimes(noteOf(checkout.id), now / 1000, now / 1000), undefined);
    },
    async remove(id) {
      if (!found.delete(id)) return;
      makePrivateDir(drafts);
      const gone = path.join(drafts, `${id}.gone`);
      await ifThere(rename(folderOf(id), gone), undefined);
      await dropDraft(gone);
    },
    dropDraft,
  };
}

/**
 * Null for a file that is not a valid note, or that was written while the data folder was elsewhere. The file's time says when the checkout
 * was last used.
 */
async function readNote(id: string, file: string, root: string): Promise<StoredCheckout | null> {
  if (!idForm.test(id)) return null;
  const text = await ifThere(readFile(file, 'utf8'), '').catch(() => '');
  const note = parseJsonOrNull(text);
  if (!isRecord(note) || note['id'] !== id || typeof note['sha'] !== 'string') return null;
  const { root: madeIn, ...checkout } = note;
  if (madeIn !== root) return null;
  const { mtimeMs } = await stat(file);
  // Only `keep` writes it, and completely.
  return { ...(checkout as StoredCheckout), used_at: Math.round(mtimeMs) };
}
