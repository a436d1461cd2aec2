import { Activity, House, ListTree, type LucideIcon, MessageCircle, Radio, Receipt, Search, Settings, Users } from 'lucide-react';

export type Destination = { to: string; name: string; icon: LucideIcon };

/** The screens of the rail, in its order. The first three are the tabs of a phone. */
export const destinations: readonly Destination[] = [
  { to: '/', name: 'Home', icon: House },
  { to: '/chat', name: 'Chat', icon: MessageCircle },
  { to: '/sessions', name: 'Sessions', icon: ListTree },
  { to: '/search', name: 'Search', icon: Search },
  { to: '/people', name: 'People', icon: Users },
  { to: '/channels', name: 'Channels', icon: Radio },
  { to: '/costs', name: 'Costs', icon: Receipt },
  { to: '/activity', name: 'Activity', icon: Activity },
  { to: '/settings', name: 'Settings', icon: Settings },
];
