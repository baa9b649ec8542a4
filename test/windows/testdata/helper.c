// A program for tests: "args" prints its other arguments, one a line, "exit" ends with a code, and "mode" prints the mode
// of the console that it writes to.
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

int wmain(int argc, wchar_t **argv) {
  DWORD mode = 0;
  if (argc > 2 && !wcscmp(argv[1], L"exit")) return _wtoi(argv[2]);
  if (argc > 1 && !wcscmp(argv[1], L"mode")) {
    GetConsoleMode(GetStdHandle(STD_OUTPUT_HANDLE), &mode);
    printf("mode %lu;", mode);
  }
  for (int i = 2; i < argc; i++) {
    char text[1000] = "";
    WideCharToMultiByte(CP_UTF8, 0, argv[i], -1, text, sizeof text, NULL, NULL);
    printf("<%s>\n", text);
  }
  return 0;
}
