export const announcementPriorities = ['normal', 'urgent'] as const;
export type AnnouncementPriority = (typeof announcementPriorities)[number];

/** A note to sessions (spec: Announcement). Times are epoch ms. */
export type Announcement = {
  /** Rises with every announcement and is never given twice. */
  id: number;
  /** `*`, a conversation key, `surface:<channel>` or `identity:<principal key>`. */
  target: string;
  text: string;
  priority: AnnouncementPriority;
  /** Label of the poster; empty when it gave none. */
  from_session: string;
  created_at: number;
  /** From this instant on it is gone; null means that it stays. */
  expires_at: number | null;
};
