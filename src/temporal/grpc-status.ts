import { isGrpcServiceError } from '@temporalio/client';

/** Status codes of gRPC that are told apart here, by their number on the wire. */
export const GRPC = {
  cancelled: 1,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  unimplemented: 12,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** The gRPC status behind an error of the SDK, which wraps some as a cause; undefined for every other error. */
export function grpcStatus(error: unknown): { code: number; details: string } | undefined {
  if (isGrpcServiceError(error)) return error;
  return error instanceof Error && isGrpcServiceError(error.cause) ? error.cause : undefined;
}
