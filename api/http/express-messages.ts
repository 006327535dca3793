// Requests and answers that are Express's from the start. Express gives each a prototype of its own when it
// handles it, and V8 then takes every later access to it for one to an object of another kind.
import { IncomingMessage, ServerResponse, type RequestListener, type ServerOptions } from 'node:http';

/** The classes of which a server is to make the messages of this app; none where it is not Express's. */
export function messageClassesOf(
  app: RequestListener,
): Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'> {
  if (!isExpress(app)) return {};
  class AppRequest extends IncomingMessage {}
  class AppResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {}
  Object.setPrototypeOf(AppRequest.prototype, app.request);
  Object.setPrototypeOf(AppResponse.prototype, app.response);
  app.request = AppRequest.prototype;
  app.response = AppResponse.prototype;
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse };
}

interface Express {
  request: object;
  response: object;
}

function isExpress(app: RequestListener): app is RequestListener & Express {
  return 'request' in app && 'response' in app;
}
