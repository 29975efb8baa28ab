#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cJSON.h"
int main(void) {
    cJSON *root = cJSON_CreateArray();
    char name[64];
    for (int i = 0; i < 300; i++) {
        cJSON *o = cJSON_CreateObject();
        sprintf(name, "item \"%d\" \\ caf\xc3\xa9\n", i);
        cJSON_AddStringToObject(o, "name", name);
        cJSON_AddNumberToObject(o, "number", i * 1.37);
        cJSON_AddBoolToObject(o, "flag", i % 2);
        cJSON_AddNullToObject(o, "nothing");
        int v[] = {i, 2 * i, 3 * i, 7};
        cJSON_AddItemToObject(o, "list", cJSON_CreateIntArray(v, 4));
        cJSON_AddItemToArray(root, o);
    }
    char *text = cJSON_Print(root);
    long sum = 0;
    for (int k = 0; k < 4; k++) {
        cJSON *back = cJSON_Parse(text), *each;
        cJSON_ArrayForEach(each, back) {
            sum += cJSON_GetObjectItem(each, "NUMBER")->valueint + cJSON_GetArraySize(cJSON_GetObjectItem(each, "list"));
        }
        cJSON *copy = cJSON_Duplicate(back, 1);
        sum += cJSON_Compare(copy, back, 1);
        char *again = cJSON_PrintUnformatted(copy);
        cJSON_Minify(again);
        sum += strlen(again);
        free(again); cJSON_Delete(back); cJSON_Delete(copy);
    }
    printf("%ld\n", sum);
    free(text); cJSON_Delete(root);
    return 0;
}
