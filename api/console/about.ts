// GET /api/console: tells a page what it talks to, before anyone has logged in.
import type { Reply, RequestContext } from '../context.ts';
import type { AboutView } from '../shapes/about.ts';

export async function readAbout({ services }: RequestContext): Promise<Reply> {
  const data: AboutView = { ...services.about, publicUrl: services.publicUrl() };
  return { status: 200, body: { data } };
}
