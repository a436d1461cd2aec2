import { useEffect } from 'react';
import { setNeedCount } from '../../parts/page-title.ts';
import { useNeeds } from './use-needs.ts';

/** Counts the rows of Home, on every screen. */
export function HomeBadge() {
  const { needs, isKnown } = useNeeds();
  const count = needs.length;
  useEffect(() => {
    if (isKnown) setNeedCount(count);
  }, [isKnown, count]);
  return null;
}
