/* bcryptprimitives.dll for Wine 8, which has none: Go's runtime asks it for random bytes. */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID data, ULONG size);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) {
  return SystemFunction036(data, (ULONG)size);
}
